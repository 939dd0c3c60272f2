package authn

// FillHashQueue occupies all places of the hash queue.
func FillHashQueue(w *Prover) {
	for range cap(w.hashQueue.slots) - len(w.hashQueue.slots) {
		w.hashQueue.slots <- struct{}{}
	}
}

// QueuedHashes returns how many senders occupy the hash queue.
func QueuedHashes(w *Prover) int { return len(w.hashQueue.slots) }
