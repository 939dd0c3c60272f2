package keyring

// Lag returns a function that resets the keyring to the keys that it has now, as if the
// node had not learnt of newer ones.
func (k *Keyring) Lag() (back func()) {
	now := k.ring.Load()
	return func() { k.ring.Store(now) }
}
