# Two arrays that change places after each step, with bounds that ask for the size of the one that is read: nothing says that both are of
# one size.
#! with space(S, t, (j, i), (8, 8))
#! with overlapped(S, t, (j, i), 3, (8, 8))
#! gpu overlapped(S, t, (j, i), 3, (8, 8))
#! gpu overlapped(S, t, (j, i), 5, (8, 16))
#! run A_1=4 A_2=5 B_1=4 B_2=5 steps=1
#! run A_1=19 A_2=23 B_1=19 B_2=23 steps=8
#! run A_1=19 A_2=23 B_1=20 B_2=22 steps=7
#! run A_1=2 A_2=30 B_1=3 B_2=1 steps=4
#! own A_1=9 A_2=103 B_1=9 B_2=103 steps=17
@tessella function swapped_sizes2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    for t in 1:steps
        for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        A, B = B, A
    end
end
