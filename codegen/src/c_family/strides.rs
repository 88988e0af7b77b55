//! Where arrays with strides lie in memory: C functions that entry checks call.

/// An array's place in memory. Extents and strides count elements; an array without strides is one row.
pub(super) const SHAPE: &str = r#"
// Where the elements of an array lie: extents and strides count elements.
typedef struct {
    const void *data;
    int64_t bytes, rank, extents[32], strides[32];
} tessella_shape;

// The number of elements of a contiguous array, at most 2^60.
static inline int64_t tessella_count(int64_t rank, const int64_t *extents) {
    int64_t count = 1;
    for (int64_t axis = 0; axis < rank; axis++) {
        if (extents[axis] <= 0) return 0;
    }
    for (int64_t axis = 0; axis < rank; axis++) {
        count = count > ((int64_t)1 << 60) / extents[axis] ? (int64_t)1 << 60 : count * extents[axis];
    }
    return count;
}
"#;

/// Sound and not complete: says yes where a stride is not larger than all that smaller ones reach.
pub(super) const FOLDS: &str = r#"
// Whether two elements may share memory: each stride must be larger than the distance that the smaller ones span.
static inline int tessella_folds(const tessella_shape *a) {
    for (int64_t axis = 0; axis < a->rank; axis++) {
        if (a->extents[axis] <= 0) return 0;
    }
    for (int64_t axis = 0; axis < a->rank; axis++) {
        if (a->strides[axis] > INT64_MAX / 16 || a->strides[axis] < -(INT64_MAX / 16)) return 1;
    }
    for (int64_t axis = 0; axis < a->rank; axis++) {
        const int64_t step = a->strides[axis] < 0 ? -a->strides[axis] : a->strides[axis];
        int64_t span = 0;
        for (int64_t other = 0; other < a->rank && a->extents[axis] > 1; other++) {
            const int64_t size = a->strides[other] < 0 ? -a->strides[other] : a->strides[other];
            if (other == axis || a->extents[other] == 1 || size > step) continue;
            if (size != 0 && a->extents[other] - 1 > ((int64_t)1 << 56) / size) return 1;
            span += size * (a->extents[other] - 1);
        }
        if (a->extents[axis] > 1 && step <= span) return 1;
    }
    return 0;
}
"#;

/// Exact up to a number of steps, after which it says yes.
pub(super) const MEETS: &str = r#"
typedef struct {
    int64_t step, low, high;
} tessella_term;

// Adds a multiple of a step to a sum whose steps fall: the factor runs from low to high. 0 if numbers get too large.
static inline int tessella_add_term(tessella_term *terms, int *count, int64_t step, int64_t low, int64_t high) {
    if (step < 0) {
        const int64_t least = -high;
        step = -step, high = -low, low = least;
    }
    if (step == 0 || low == high) return 1;
    if (high - low > ((int64_t)1 << 56) / step) return 0;
    int at = 0;
    while (at < *count && terms[at].step > step) at++;
    if (at < *count && terms[at].step == step) {
        terms[at].low += low, terms[at].high += high;
        return terms[at].high - terms[at].low <= ((int64_t)1 << 56) / step;
    }
    for (int k = (*count)++; k > at; k--) terms[k] = terms[k - 1];
    terms[at] = (tessella_term){step, low, high};
    return 1;
}

// Whether the sum can be the target; yes when the budget is used up.
static int tessella_reaches(int64_t target, const tessella_term *terms, int count, int *budget) {
    if (count == 0) return target == 0;
    int64_t low = 0, high = 0;
    for (int k = 1; k < count; k++) low += terms[k].step * terms[k].low, high += terms[k].step * terms[k].high;
    // The rest reaches low..high at most.
    const int64_t step = terms[0].step, least = target - high, most = target - low;
    int64_t from = least / step + (least % step > 0), to = most / step - (most % step < 0);
    if (from < terms[0].low) from = terms[0].low;
    if (to > terms[0].high) to = terms[0].high;
    for (int64_t factor = from; factor <= to; factor++) {
        if (--*budget < 0 || tessella_reaches(target - step * factor, terms + 1, count - 1, budget)) return 1;
    }
    return 0;
}

// Whether the two arrays have a byte in common: whether a difference of subscripts makes up for that of the addresses.
static inline int tessella_meets(const tessella_shape *a, const tessella_shape *b) {
    tessella_term terms[65];
    int count = 0, fits = 1, budget = 10000;
    for (int64_t axis = 0; axis < a->rank; axis++) {
        if (a->extents[axis] <= 0) return 0;
        if (a->strides[axis] > INT64_MAX / 16 || a->strides[axis] < -(INT64_MAX / 16)) return 1;
        fits &= tessella_add_term(terms, &count, a->strides[axis] * a->bytes, 0, a->extents[axis] - 1);
    }
    for (int64_t axis = 0; axis < b->rank; axis++) {
        if (b->extents[axis] <= 0) return 0;
        if (b->strides[axis] > INT64_MAX / 16 || b->strides[axis] < -(INT64_MAX / 16)) return 1;
        fits &= tessella_add_term(terms, &count, -b->strides[axis] * b->bytes, 0, b->extents[axis] - 1);
    }
    fits &= tessella_add_term(terms, &count, 1, -(b->bytes - 1), a->bytes - 1);
    return !fits || tessella_reaches((int64_t)((uintptr_t)b->data - (uintptr_t)a->data), terms, count, &budget);
}
"#;
