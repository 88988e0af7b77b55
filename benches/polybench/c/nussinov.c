/* The most base pairs that a strand of RNA can fold into, by Nussinov's dynamic programming */
#include "kernel.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

enum { N = EXTENT1 };

void kernel_nussinov(REAL table[restrict N][N], signed char bases[restrict N])
{
    for (int i = N - 1; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            table[j][i] = MAX(table[j][i], table[j - 1][i]);
            table[j][i] = MAX(table[j][i], table[j][i + 1]);
            if (i < j - 1)
                table[j][i] = MAX(table[j][i], table[j - 1][i + 1] + (bases[i] + bases[j] == 3));
            else
                table[j][i] = MAX(table[j][i], table[j - 1][i + 1]);
            for (int k = i + 1; k < j; k++)
                table[j][i] = MAX(table[j][i], table[k][i] + table[j][k + 1]);
        }
}
