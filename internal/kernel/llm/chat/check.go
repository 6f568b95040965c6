package chat

// Check reports a configuration that cannot work, such as a missing key,
// before anything depends on it. Nothing is sent. Errors: *llm.Error of kind
// NoKey or Rejected.
func (c Config) Check() error {
	_, err := (&model{cfg: c}).endpoint()
	return err
}
