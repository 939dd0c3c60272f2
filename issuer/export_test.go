package issuer

import "context"

// StepKeys and SweepOnce are the leader's duties without their clock.
func (i *Issuer) StepKeys(ctx context.Context) { i.stepKeys(ctx) }

func (i *Issuer) SweepOnce(ctx context.Context) error {
	var s sweeper
	return s.run(ctx, i)
}
