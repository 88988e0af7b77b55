@tessella function relax!(A)
    for t in 1:10, i in 2:length(A)-1
        @comp S A[i] = 0.5 * (A[i-1] + A[i+1])
    end
end

@schedule relax! begin
    overlapped(S, t, t, 2, 4)
end
