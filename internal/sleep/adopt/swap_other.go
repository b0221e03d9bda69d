//go:build !linux && !darwin

package adopt

import (
	"errors"
	"os"
)

func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

func moveNew(*os.Root, string, string) error { return errors.ErrUnsupported }
