package verifier

import "crypto"

// Public opens a key to tests that compare it with what others read.
func (k Key) Public() crypto.PublicKey { return k.public }
