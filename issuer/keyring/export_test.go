package keyring

// Lag returns a function that takes the node back to the keys that it has now, as if it
// had not heard of newer ones.
func (k *Keyring) Lag() (back func()) {
	now := k.ring.Load()
	return func() { k.ring.Store(now) }
}
