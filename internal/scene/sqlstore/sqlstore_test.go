package sqlstore_test

import (
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) scene.Store { return open(t) })
}
