// Command semver answers what Flux's library makes of ranges and versions, for the table that our own answers are held to:
//
//	cd dev/tools/semver && go run . < ../../../test/core/policy/semver-cases.json > ../../../test/core/policy/semver-table.json
//
// A tag counts as a version where Flux counts it as one: strictly, after one leading "v" (fluxcd/pkg/version, ParseVersion).
package main

import (
	"encoding/json"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
)

type cases struct {
	Ranges   []string `json:"ranges"`
	Versions []string `json:"versions"`
}

type row struct {
	Range string `json:"range"`
	// With blanks between; absent where the range does not parse.
	Selects *string `json:"selects,omitempty"`
}

type table struct {
	// Oldest first; a group of equal ones is one list.
	Order      [][]string `json:"order"`
	NoVersions []string   `json:"noVersions"`
	Ranges     []row      `json:"ranges"`
}

func parse(tag string) (*semver.Version, error) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err != nil {
		return nil, err
	}
	return semver.NewVersion(tag)
}

func main() {
	var in cases
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		log.Fatal(err)
	}
	out := table{NoVersions: []string{}}
	var versions []*semver.Version
	for _, tag := range in.Versions {
		if v, err := parse(tag); err != nil {
			out.NoVersions = append(out.NoVersions, tag)
		} else {
			versions = append(versions, v)
		}
	}
	for _, text := range in.Ranges {
		r := row{Range: text}
		if constraint, err := semver.NewConstraint(text); err == nil {
			selects := []string{}
			for _, v := range versions {
				if constraint.Check(v) {
					selects = append(selects, v.Original())
				}
			}
			text := strings.Join(selects, " ")
			r.Selects = &text
		}
		out.Ranges = append(out.Ranges, r)
	}
	sort.SliceStable(versions, func(i, j int) bool { return versions[i].LessThan(versions[j]) })
	for i, v := range versions {
		if i > 0 && versions[i-1].Equal(v) {
			last := len(out.Order) - 1
			out.Order[last] = append(out.Order[last], v.Original())
		} else {
			out.Order = append(out.Order, []string{v.Original()})
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		log.Fatal(err)
	}
}
