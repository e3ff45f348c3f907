// Package each makes a list of what each element of another list is.
package each

import "slices"

// As gives what each element is, in their order; of none it is nil.
func As[E, T any](list []E, as func(E) T) (all []T) {
	all = slices.Grow(all, len(list))
	for _, one := range list {
		all = append(all, as(one))
	}
	return all
}
