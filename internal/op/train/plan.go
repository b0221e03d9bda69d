package train

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Plan forecasts a training run. Nothing is sent, and no run is begun.
func Plan(ctx context.Context, cfg config.Config, o session.Options) (p result.Plan, err error) {
	o.Start.Again, o.Plan = true, &p // what another run would take
	earlier, err := session.Continue(ctx, &cfg, &o)
	if err != nil {
		return p, err
	}
	s, err := session.Prepare(ctx, cfg, o, model.Target, model.Optimizer)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := errors.Join(session.TrainDescription(s.Inputs), session.TrainRegion(s.Inputs), session.TrainExamples(s.Inputs), session.AsOrigin(s)); err != nil {
		return p, err
	}
	if err := errors.Join(s.Doubt(s.Fork != "" || s.RunDir != "" && session.Begun(s.RunDir)), s.RequireSplits()); err != nil {
		return p, err
	}
	sizes := training.New(s)
	sizes.Decide()
	if err := sizes.Refused(); err != nil {
		return p, err
	}
	options := goingOn(sizes.Options(), earlier)
	if why := options.TooFewToShow(s.Data); why != "" {
		return p, fault.Input(errors.New(why))
	}
	p = forecast.Bound(s, options.Rest())
	p.Ceilings = sizes.LeftOut()
	if err := foretellReading(ctx, s, options, &p); err != nil {
		return result.Plan{}, err
	}
	return p, forecast.Add(ctx, s, options, &p)
}

// foretellReading puts into a plan what the reading of the test split can certify.
func foretellReading(ctx context.Context, s *session.Session, o loop.Options, p *result.Plan) error {
	if !o.Test || len(s.Data.Test) == 0 {
		return nil
	}
	reads, err := s.ReadBefore(ctx)
	if err != nil {
		return err
	}
	p.TestReadBefore, p.NoCertificate = &reads, o.Uncertifiable(s.Data, reads)
	if reads.Unknown == "" {
		level := gate.LevelOf(o.Alpha, reads.Times+1)
		p.CertificateLevel = &level
	}
	return nil
}
