package verifier

// CacheMisses is how many of the tokens a cache of a size has lost after it was
// given all of them, several times in turn.
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

// FetchForDuringFlight is what a request does that looked for a kid just before the
// set landed that has it.
func (j *JWKS) FetchForDuringFlight(kid string) { j.fetchFor(kid, j.now()) }
