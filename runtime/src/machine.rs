//! What this machine is like, for the auto-scheduler.

use std::sync::OnceLock;
use tessella_polyhedral::machine::Machine;

/// This machine; what cannot be found out is as in [`Machine::GENERIC`].
pub fn native() -> Machine {
    static FOUND: OnceLock<Machine> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let (vector_bytes, vector_registers) = vectors();
        Machine {
            vector_bytes,
            vector_registers,
            l1_bytes: cache_bytes("Data", 1).unwrap_or(Machine::GENERIC.l1_bytes),
            l2_bytes: cache_bytes("Unified", 2).unwrap_or(Machine::GENERIC.l2_bytes),
            threads: std::thread::available_parallelism().map_or(Machine::GENERIC.threads, |count| count.get() as u32),
            worth_threads: Machine::GENERIC.worth_threads,
            multiprocessors: Machine::GENERIC.multiprocessors,
            restart_bytes: Machine::GENERIC.restart_bytes,
        }
    })
}

/// Bytes of memory that programs can still have; none where the system does not say.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// Bytes and number of the SIMD registers.
#[cfg(target_arch = "x86_64")]
fn vectors() -> (u32, u32) {
    if is_x86_feature_detected!("avx512f") {
        (64, 32)
    } else if is_x86_feature_detected!("avx") {
        (32, 16)
    } else {
        (16, 16)
    }
}

/// Bytes and number of the SIMD registers.
#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> (u32, u32) {
    // What every 64-bit ARM has.
    (16, 32)
}

/// The size of a cache of the first core, as Linux lists it.
fn cache_bytes(kind: &str, level: u32) -> Option<u64> {
    let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.flatten().find_map(|entry| {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok();
        let fits = read("type")?.trim() == kind && read("level")?.trim() == level.to_string();
        fits.then(|| size(read("size")?.trim())).flatten()
    })
}

/// `48K`, `2M`.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches_are_read() {
        assert_eq!(size("48K"), Some(48 << 10));
        assert_eq!(size("2M"), Some(2 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size("1X"), None);
    }

    #[test]
    fn this_machine_has_vectors_and_threads() {
        let machine = native();
        assert!(machine.vector_bytes >= 16 && machine.threads >= 1 && machine.l2_bytes >= machine.l1_bytes);
    }
}
