// Command kubectl is kubectl, for the tests that follow docs/install.md. Upstream's own main is in a module that cannot be pinned by itself; what it runs is in one
// that can.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}
