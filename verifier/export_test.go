package verifier

// CacheMisses returns how many tokens a cache of a size has lost after all of them were
// put into it, several times in turn.
func CacheMisses(size int, tokens []string) (misses int) {
	c := newCache(size)
	for range 4 {
		misses = 0
		for _, token := range tokens {
			if c.get(token) == nil {
				misses++
				c.put(token, nil, Key{})
			}
		}
	}
	return misses
}

// FetchForDuringFlight does what a request does after it looked up a kid just before the
// set with that kid was published.
func (j *JWKS) FetchForDuringFlight(kid string) { j.fetchFor(kid, j.now()) }
