for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for n in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
reduce_narrow(x, A) = (reduce(+, x), foldl(*, x), mapreduce(abs2, +, A), sum(x), prod(x), reduce(+, A; dims = 1))
end
end
end
end
end
end
end
end
end
