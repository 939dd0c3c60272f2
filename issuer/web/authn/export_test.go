package authn

// QueuedHashes returns how many senders occupy the hash queue.
func QueuedHashes(w *Prover) int { return len(w.hashQueue.slots) }
