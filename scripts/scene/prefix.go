package main

// A cache holds the prompts that a model was sent, as a tree of their parts.
type cache struct {
	next map[part]*cache
	last *sent // that passed here
}

// reuse is how a request begins like earlier ones.
type reuse struct {
	prompt    int // characters
	reusable  int // that begin some earlier request
	oneSlot   int // that begin the request just before
	again     int // behind that, of messages that were read before, behind the same tools and system message
	elsewhere int // the same, but behind others: caches cannot help that
	at        int // the part that differs
	from      int // the byte of it
	like      *sent
	was       string // the text there, in the request that is most alike
	different bool   // more is read again than what is new and the last message
}

// meter measures the requests to one model, in the order they were sent.
type meter struct {
	tree   cache
	seen   map[part]map[string]bool // messages, and behind what
	before *sent
}

func newMeter() *meter { return &meter{seen: map[part]map[string]bool{}} }

// measure compares a request with all earlier ones, and adds it to them.
func (m *meter) measure(s *sent) reuse {
	var r reuse
	for _, p := range s.parts {
		r.prompt += chars(p.text)
	}
	node := &m.tree
	for r.at < len(s.parts) && node.next[s.parts[r.at]] != nil {
		node = node.next[s.parts[r.at]]
		r.reusable += chars(s.parts[r.at].text)
		r.at++
	}
	if r.at < len(s.parts) {
		r.branch(node, s.parts[r.at])
		r.reusable += chars(s.parts[r.at].text[:r.from])
		for _, p := range s.parts[r.at : len(s.parts)-1] {
			switch behind := m.seen[p]; {
			case behind[s.head()]:
				r.again += chars(p.text)
			case behind != nil:
				r.elsewhere += chars(p.text)
			}
		}
		role := s.parts[r.at].role
		r.different = m.before != nil && (r.again+r.elsewhere > 0 || role == "tools" || role == "system")
	}
	r.oneSlot = shared(m.before, s)
	m.add(s)
	return r
}

// branch finds the part that begins most like p where node has none like it.
func (r *reuse) branch(node *cache, p part) {
	r.like = node.last
	for other, child := range node.next {
		if other.role != p.role {
			continue
		}
		n := common(other.text, p.text)
		// The order of a map must not decide between two.
		if n > r.from || n == r.from && (r.was == "" || other.text < r.was) {
			r.from, r.like, r.was = n, child.last, other.text
		}
	}
}

func (m *meter) add(s *sent) {
	node := &m.tree
	for _, p := range s.parts {
		if node.next == nil {
			node.next = map[part]*cache{}
		}
		if node.next[p] == nil {
			node.next[p] = &cache{}
		}
		node = node.next[p]
		node.last = s
		if m.seen[p] == nil {
			m.seen[p] = map[string]bool{}
		}
		m.seen[p][s.head()] = true
	}
	m.before = s
}

// shared counts the characters that two requests begin with.
func shared(a, b *sent) int {
	n := 0
	if a == nil {
		return n
	}
	for i := range min(len(a.parts), len(b.parts)) {
		p, q := a.parts[i], b.parts[i]
		if p.role != q.role {
			break
		}
		n += chars(q.text[:common(p.text, q.text)])
		if p != q {
			break
		}
	}
	return n
}

// common is how many bytes two texts begin with.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
