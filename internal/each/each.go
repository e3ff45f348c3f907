// Package each makes a list of what each element of another list is.
package each

import "slices"

// As returns as(e) for each element, in order; nil for an empty list.
func As[E, T any](list []E, as func(E) T) (all []T) {
	all = slices.Grow(all, len(list))
	for _, one := range list {
		all = append(all, as(one))
	}
	return all
}
