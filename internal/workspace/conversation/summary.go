package conversation

import "time"

// Summary is what a list shows of a log.
type Summary struct {
	Events    int // entries, the base of older versions not among them
	LastEvent time.Time
}

// Summarize reads the log in dir without keeping it, and checks that it and
// the base configuration can be read. Errors: those of Load.
func Summarize(dir string) (Summary, error) {
	s, err := Load(dir, 0, Env{})
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Events: s.Len()}
	for i := s.Len() - 1; i >= 0 && sum.LastEvent.IsZero(); i-- {
		sum.LastEvent = s.At(i).Time
	}
	return sum, nil
}
