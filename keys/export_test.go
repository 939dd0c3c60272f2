package keys

// OnWrite sets a function that is called before each change of a key file.
func (c *ClusterKeys) OnWrite(f func(suffix string) error) { c.onWrite = f }
