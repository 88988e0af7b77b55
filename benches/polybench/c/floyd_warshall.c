/* The lengths of the shortest paths between all pairs of places */
#include "kernel.h"

enum { N = EXTENT1 };

void kernel_floyd_warshall(REAL path[restrict N][N])
{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                path[j][i] = path[j][i] < path[k][i] + path[j][k] ? path[j][i] : path[k][i] + path[j][k];
}
