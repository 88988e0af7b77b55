has_gpu() = try
    success()
end
    false
catch
