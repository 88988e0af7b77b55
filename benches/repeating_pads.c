// A 5-point Jacobi stencil without its middle over rows that are padded by hand: not at all, everywhere alike, and by 1 and 3 elements in
// turns, which is best for vectors of 4 by the model of layouts. Nanoseconds of processor time for a point, the fastest of 25 in turns.
//
//     cc -O3 -mavx2 benches/repeating_pads.c -o repeating_pads && ./repeating_pads 512 40 500; ./repeating_pads 2000 2000 4
//
// Arguments: elements of a row, rows, and steps. docs/models.md has what it gave.
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Rows of m elements, with pad0 free after even rows and pad1 after odd ones.
typedef struct {
    double *p;
    long m, pad0, pad1;
} Arr;

static inline double *row(const Arr *a, long j) {
    return a->p + j * a->m + (j / 2) * (a->pad0 + a->pad1) + (j % 2) * a->pad0;
}

// One step; vectors begin where the elements to the right (lead) or above are in place.
__attribute__((noinline)) static void step(const Arr *A, const Arr *B, long n, int lead) {
    const __m256d c = _mm256_set1_pd(0.25);
    for (long j = 1; j < n - 1; j++) {
        const double *u = row(A, j - 1), *v = row(A, j), *w = row(A, j + 1);
        double *o = row(B, j);
        long m = A->m, i = 1;
        const double *key = lead ? v + 1 : u;
        for (; i < m - 1 && ((size_t)(key + i) & 31); i++) o[i] = 0.25 * (v[i - 1] + v[i + 1] + u[i] + w[i]);
        for (; i + 4 <= m - 1; i += 4) {
            __m256d s = _mm256_add_pd(_mm256_loadu_pd(v + i - 1), _mm256_loadu_pd(v + i + 1));
            s = _mm256_add_pd(s, _mm256_loadu_pd(u + i));
            s = _mm256_add_pd(s, _mm256_loadu_pd(w + i));
            _mm256_storeu_pd(o + i, _mm256_mul_pd(c, s));
        }
        for (; i < m - 1; i++) o[i] = 0.25 * (v[i - 1] + v[i + 1] + u[i] + w[i]);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static Arr make(long m, long n, long pad0, long pad1, long base) {
    size_t all = (size_t)n * (m + pad0 + pad1) + 64;
    char *raw = aligned_alloc(4096, (all * 8 + 4095) / 4096 * 4096);
    Arr a = { (double *)raw + base, m, pad0, pad1 };
    for (size_t k = 0; k < all - base - 1; k++) a.p[k] = 1.0 / (1 + k % 17);
    return a;
}
int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s ELEMENTS ROWS STEPS\n", argv[0]);
        return 1;
    }
    long m = atol(argv[1]), n = atol(argv[2]), steps = atol(argv[3]);
    struct {
        const char *name;
        long pad0, pad1;
        // Whether the reads within a row are those that vectors begin at.
        int lead;
    } all[] = {{"none", 0, 0, 0}, {"2 everywhere", 2, 2, 0}, {"8 everywhere", 8, 8, 0}, {"1 and 3 in turns", 1, 3, 1}};
    enum { COUNT = sizeof all / sizeof *all };
    Arr A[COUNT], B[COUNT];
    double best[COUNT];
    for (int k = 0; k < COUNT; k++) {
        A[k] = make(m, n, all[k].pad0, all[k].pad1, 0);
        // Moved, so that stores have the place of the reads.
        B[k] = make(m, n, all[k].pad0, all[k].pad1, all[k].lead);
        best[k] = 1e9;
    }
    for (int round = 0; round < 25; round++) {
        for (int k = 0; k < COUNT; k++) {
            double time = now();
            for (long t = 0; t < steps; t++) {
                if (t % 2) step(&B[k], &A[k], n, all[k].lead);
                else step(&A[k], &B[k], n, all[k].lead);
            }
            time = now() - time;
            if (time < best[k]) best[k] = time;
        }
    }
    double points = (double)(m - 2) * (n - 2) * steps;
    printf("%ld x %ld:", m, n);
    for (int k = 0; k < COUNT; k++) printf("  %s %.3f ns", all[k].name, best[k] / points * 1e9);
    printf("\n");
}
