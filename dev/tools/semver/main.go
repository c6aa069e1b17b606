// Command semver answers what Flux's library makes of ranges and versions, for the table that our own answers are held to.
// It reads the table and writes it again with fresh answers; new ranges and versions go into it by hand, with any answer:
//
//	cd dev/tools/semver && go run . ../../../test/core/policy/semver-table.json
//
// A tag counts as a version where Flux counts it as one: strictly, after one leading "v" (fluxcd/pkg/version, ParseVersion).
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
)

type table struct {
	// Oldest first, in rows of "1.0.0 v1.0.0 < 1.0.1": equal ones with blanks between.
	Order      []string `json:"order"`
	NoVersions []string `json:"noVersions"`
	// What each range selects, oldest first, with blanks between; null where the range does not parse.
	Ranges map[string]*string `json:"ranges"`
}

// The length from which a row of versions ends.
const rowLength = 80

func parse(tag string) (*semver.Version, error) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err != nil {
		return nil, err
	}
	return semver.NewVersion(tag)
}

func main() {
	file := os.Args[1]
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var in table
	if err := json.Unmarshal(text, &in); err != nil {
		log.Fatal(err)
	}
	out := table{NoVersions: []string{}, Ranges: map[string]*string{}}
	var versions []*semver.Version
	for _, tag := range append(strings.Fields(strings.ReplaceAll(strings.Join(in.Order, " "), "<", "")), in.NoVersions...) {
		if v, err := parse(tag); err != nil {
			out.NoVersions = append(out.NoVersions, tag)
		} else {
			versions = append(versions, v)
		}
	}
	sort.SliceStable(versions, func(i, j int) bool { return versions[i].LessThan(versions[j]) })
	for i, v := range versions {
		last := len(out.Order) - 1
		switch {
		case i > 0 && versions[i-1].Equal(v):
			out.Order[last] += " " + v.Original()
		case i > 0 && len(out.Order[last]) < rowLength:
			out.Order[last] += " < " + v.Original()
		default:
			out.Order = append(out.Order, v.Original())
		}
	}
	for text := range in.Ranges {
		constraint, err := semver.NewConstraint(text)
		if err != nil {
			out.Ranges[text] = nil
			continue
		}
		selects := []string{}
		for _, v := range versions {
			if constraint.Check(v) {
				selects = append(selects, v.Original())
			}
		}
		joined := strings.Join(selects, " ")
		out.Ranges[text] = &joined
	}
	var made bytes.Buffer
	encoder := json.NewEncoder(&made)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, made.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
