package upstream

import "context"

// Learn asks for the metadata once.
func (p *Provider) Learn(ctx context.Context) error {
	m, err := p.discover(ctx)
	if err == nil {
		p.known.Store(m)
	}
	return err
}

const (
	RetryMost    = retryMost
	RefreshAfter = refreshAfter
)
