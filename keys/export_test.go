package keys

// OnWrite has f called before each change of a file of keys.
func (c *ClusterKeys) OnWrite(f func(suffix string) error) { c.onWrite = f }
