package upstream

import "context"

// Learn fetches the metadata once.
func (p *Provider) Learn(ctx context.Context) error {
	m, err := p.discover(ctx)
	if err == nil {
		p.metadata.Store(m)
	}
	return err
}

const (
	RetryMax     = retryMax
	RefreshAfter = refreshAfter
)
