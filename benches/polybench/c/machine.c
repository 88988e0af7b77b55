/* Measures what this machine can do at best: how many multiplications and additions a second, and how fast it copies.

       machine peak THREADS        prints the floating-point operations a second of all threads together
       machine copy THREADS        prints the bytes read and written a second of all threads together

   Compiled once for each REAL, each WIDTH of vectors in bytes, and with -ffp-contract=off or =fast: without and with
   fused operations. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef REAL vector __attribute__((vector_size(WIDTH)));

/* As many independent chains as hide the latency of two units and still fit in sixteen registers. */
enum { CHAINS = 12, STEPS = 4000000, ROUNDS = 5, LANES = WIDTH / sizeof(REAL) };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static REAL work(REAL factor, REAL term)
{
    vector chain[CHAINS], factors = factor - (vector){0}, terms = term - (vector){0};
    for (int c = 0; c < CHAINS; c++)
        chain[c] = (REAL)c - (vector){0};
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 12
        for (int c = 0; c < CHAINS; c++)
            chain[c] = chain[c] * factors + terms;
    REAL sum = 0;
    for (int c = 0; c < CHAINS; c++)
        for (int lane = 0; lane < LANES; lane++)
            sum += chain[c][lane];
    return sum;
}

static double peak(int threads)
{
    double fastest = 1e30;
    volatile REAL factor = 0.5, term = 1, sink;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
#pragma omp parallel num_threads(threads)
        {
            REAL sum = work(factor, term);
#pragma omp critical
            sink = sum;
        }
        double elapsed = now() - start;
        fastest = elapsed < fastest ? elapsed : fastest;
    }
    (void)sink;
    return 2.0 * CHAINS * LANES * (double)STEPS * threads / fastest;
}

static double copy(int threads)
{
    const size_t bytes = (size_t)128 << 20;
    char *from = malloc(bytes), *to = malloc(bytes);
    double fastest = 1e30;
    if (!from || !to)
        return 0;
    for (int round = 0; round <= ROUNDS; round++) {
        double start = now();
#pragma omp parallel num_threads(threads)
        {
            size_t part = bytes / omp_get_num_threads(), at = part * omp_get_thread_num();
            /* The first round places the pages, each near the thread that uses it. */
            if (round == 0)
                memset(from + at, 1, part), memset(to + at, 2, part);
            else
                memcpy(to + at, from + at, part);
        }
        double elapsed = now() - start;
        fastest = round > 0 && elapsed < fastest ? elapsed : fastest;
    }
    volatile char sink = to[bytes / 2];
    (void)sink;
    free(from);
    free(to);
    return 2.0 * bytes / fastest;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    int threads = atoi(arguments[2]);
    printf("%.6e\n", strcmp(arguments[1], "copy") == 0 ? copy(threads) : peak(threads));
    return 0;
}
