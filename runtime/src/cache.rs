//! The disk cache of compiled code: content-addressed, shared by all processes of a user, bounded.
//!
//! An entry is a folder named by its key. It is made under another name and renamed when complete, so that a process
//! sees all of an entry or nothing; of several processes that make one at once, the first to rename wins. Beside each
//! file lies its hash: a file that was damaged later is found out, and made again.

use crate::error::RuntimeError;
use directories::ProjectDirs;
use std::env;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most bytes that entries take together.
pub const LIMIT_BYTES: u64 = 512 << 20;

/// An entry that was used so recently is not removed: a process may be about to load it.
const IN_USE: Duration = Duration::from_secs(60);

/// What a process that was killed left behind, and texts kept for users to look at, go after this time.
const LEFT_OVER: Duration = Duration::from_secs(24 * 60 * 60);

const PRIVATE_PREFIX: &str = "making-";
const KEPT_FOLDER: &str = "refused";

/// A folder of compiled code.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    limit: u64,
    fallback_from: Option<(PathBuf, String)>,
}

/// What identifies an entry: everything that its content depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(blake3::Hash);

/// A file of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    pub path: PathBuf,
    pub content: Vec<u8>,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    Found,
    Made,
}

impl Key {
    /// The key of named parts, in the order given.
    pub fn of(parts: &[(&str, &[u8])]) -> Key {
        let mut hasher = blake3::Hasher::new();
        for (name, value) in parts {
            for text in [name.as_bytes(), value] {
                // The length first, so that no two lists of parts read the same.
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text);
            }
        }
        Key(hasher.finalize())
    }

    pub fn hex(&self) -> String {
        self.0.to_hex().to_string()
    }
}

impl Cache {
    /// The user's cache: the folder that `TESSELLA_CACHE` names, else the one that the system has for caches. If that
    /// cannot be written, a private folder for temporary files.
    pub fn open() -> Result<Cache, RuntimeError> {
        let wanted = match env::var_os("TESSELLA_CACHE").filter(|named| !named.is_empty()) {
            Some(named) => Some(PathBuf::from(named)),
            None => ProjectDirs::from("", "", "tessella").map(|folders| folders.cache_dir().to_path_buf()),
        };
        match wanted {
            Some(wanted) => Cache::at_or_temporary(wanted),
            None => Cache::temporary(None),
        }
    }

    /// The cache in this folder, which is made if need be.
    pub fn at(root: impl Into<PathBuf>) -> Result<Cache, RuntimeError> {
        let root = root.into();
        match make_writable(&root) {
            // The compiler runs in a folder of its own, where a relative path would mean another place.
            Ok(root) => Ok(Cache { root, limit: LIMIT_BYTES, fallback_from: None }),
            Err(error) => Err(failed("write into the cache", &root, &error)),
        }
    }

    fn at_or_temporary(wanted: PathBuf) -> Result<Cache, RuntimeError> {
        match make_writable(&wanted) {
            Ok(root) => Ok(Cache { root, limit: LIMIT_BYTES, fallback_from: None }),
            Err(error) => Cache::temporary(Some((wanted, error.to_string()))),
        }
    }

    fn temporary(fallback_from: Option<(PathBuf, String)>) -> Result<Cache, RuntimeError> {
        let folder = env::temp_dir();
        let root = private_temporary(&folder).map_err(|error| failed("write into", &folder, &error))?;
        Ok(Cache { root, limit: LIMIT_BYTES, fallback_from })
    }

    /// The same cache with another bound.
    pub fn with_limit(self, bytes: u64) -> Cache {
        Cache { limit: bytes, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that was to be the cache and cannot be written, and why; `None` if all is as wanted.
    pub fn fallback_from(&self) -> Option<(&Path, &str)> {
        self.fallback_from.as_ref().map(|(path, reason)| (path.as_path(), reason.as_str()))
    }

    /// The entry's file of this name, if it is there and whole; it counts as used now.
    pub fn find(&self, key: &Key, file: &str) -> Option<Cached> {
        let path = self.root.join(key.hex()).join(file);
        let content = fs::read(&path).ok()?;
        let beside = hash_file(&path);
        let expected = fs::read_to_string(&beside).ok()?;
        if expected.trim_end() != blake3::hash(&content).to_hex().as_str() {
            return None;
        }
        if let Ok(beside) = File::options().write(true).open(&beside) {
            // Only the order of removal depends on it.
            let _ = beside.set_modified(SystemTime::now());
        }
        Some(Cached { path, content, origin: Origin::Found })
    }

    /// The entry's file of this name; if it is not there or not whole, `make` puts it, and whatever belongs to it, into
    /// the folder that it is given.
    pub fn find_or_make(
        &self,
        key: &Key,
        file: &str,
        make: impl FnOnce(&Path) -> Result<(), RuntimeError>,
    ) -> Result<Cached, RuntimeError> {
        if let Some(found) = self.find(key, file) {
            return Ok(found);
        }
        let private = self.private_folder()?;
        make(&private.path)?;
        let made = private.path.join(file);
        let content = fs::read(&made).map_err(|error| failed("read", &made, &error))?;
        let hash = blake3::hash(&content).to_hex().to_string();
        let beside = hash_file(&made);
        fs::write(&beside, hash).map_err(|error| failed("write", &beside, &error))?;
        let cached = self.publish(private, key, file, content)?;
        self.remove_old(key);
        Ok(cached)
    }

    /// Keeps a text for the user to look at, and says where.
    pub fn keep_refused(&self, name: &str, text: &str) -> Result<PathBuf, RuntimeError> {
        let folder = self.root.join(KEPT_FOLDER);
        let path = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| failed("write", &path, &error))?;
        Ok(path)
    }

    /// Gives a complete folder its name, unless another process was quicker.
    fn publish(&self, private: Private, key: &Key, file: &str, content: Vec<u8>) -> Result<Cached, RuntimeError> {
        let entry = self.root.join(key.hex());
        const TRIES: u32 = 8;
        for attempt in 1.. {
            match fs::rename(&private.path, &entry) {
                Ok(()) => break,
                Err(error) if attempt < TRIES && is_there(&error) => {}
                Err(error) => return Err(failed("write", &entry, &error)),
            }
            if let Some(found) = self.find(key, file) {
                return Ok(found);
            }
            // What is there is damaged. It is renamed before it is removed, so that nobody sees half of it.
            let aside = self.private_folder()?;
            match fs::rename(&entry, &aside.path) {
                Ok(()) => {}
                // Somebody else was quicker.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed("remove the damaged", &entry, &error)),
            }
        }
        Ok(Cached { path: entry.join(file), content, origin: Origin::Made })
    }

    fn private_folder(&self) -> Result<Private, RuntimeError> {
        let path = self.root.join(format!("{PRIVATE_PREFIX}{}", unique()));
        make_private(&path).map_err(|error| failed("make the folder", &path, &error))?;
        Ok(Private { path })
    }

    /// Removes what was used longest ago until the rest is within the bound. Failures are left to the next time.
    fn remove_old(&self, but: &Key) {
        let now = SystemTime::now();
        let older = |time: SystemTime, age: Duration| now.duration_since(time).is_ok_and(|since| since > age);
        let but = but.hex();
        let mut entries = vec![];
        for entry in folder_entries(&self.root) {
            let Some(name) = entry.file_name().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
            if name.starts_with(PRIVATE_PREFIX) {
                if fs::metadata(&entry).and_then(|it| it.modified()).is_ok_and(|time| older(time, LEFT_OVER)) {
                    let _ = fs::remove_dir_all(&entry);
                }
            } else if is_key(&name) {
                let (bytes, used) = size_and_use(&entry);
                entries.push((used, name, bytes, entry));
            }
        }
        for kept in folder_entries(&self.root.join(KEPT_FOLDER)) {
            if fs::metadata(&kept).and_then(|it| it.modified()).is_ok_and(|time| older(time, LEFT_OVER)) {
                let _ = fs::remove_file(&kept);
            }
        }

        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, bytes, _)| bytes).sum();
        for (used, name, bytes, entry) in entries {
            if total <= self.limit {
                break;
            }
            if name == but || !older(used, IN_USE) {
                continue;
            }
            let Ok(aside) = self.private_folder() else { return };
            if fs::rename(&entry, &aside.path).is_ok() {
                total -= bytes;
            }
        }
    }
}

/// A folder that only this process knows; removed when dropped, unless it was renamed.
struct Private {
    path: PathBuf,
}

impl Drop for Private {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn failed(action: &'static str, path: &Path, error: &io::Error) -> RuntimeError {
    RuntimeError::File { action, path: path.to_owned(), reason: error.to_string() }
}

fn is_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

fn hash_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".blake3");
    PathBuf::from(name)
}

fn is_key(name: &str) -> bool {
    name.len() == 2 * blake3::OUT_LEN && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn folder_entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The bytes of an entry, and when it was last used.
fn size_and_use(entry: &Path) -> (u64, SystemTime) {
    let files: Vec<Metadata> = folder_entries(entry).iter().filter_map(|file| fs::metadata(file).ok()).collect();
    let used = files.iter().filter_map(|file| file.modified().ok()).max();
    (files.iter().map(Metadata::len).sum(), used.unwrap_or(UNIX_EPOCH))
}

/// A name that no other process and no other call gives.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{}", std::process::id(), since.as_nanos(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes the folder and tries to write into it; gives back its absolute path.
fn make_writable(root: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(root)?;
    let root = root.canonicalize()?;
    let probe = root.join(format!("{PRIVATE_PREFIX}{}", unique()));
    make_private(&probe)?;
    fs::remove_dir(&probe)?;
    Ok(root)
}

/// A folder below `folder` that nobody else can write: code is loaded from it. It is the same for all processes of a
/// user, unless somebody else took its name.
fn private_temporary(folder: &Path) -> io::Result<PathBuf> {
    let fresh = folder.join(format!("tessella-{}", unique()));
    make_private(&fresh)?;
    let own = fs::symlink_metadata(&fresh)?.uid();
    let shared = folder.join(format!("tessella-{own}"));
    let taken = match make_private(&shared) {
        Ok(()) => false,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(&shared)?;
            !found.is_dir() || found.uid() != own || found.mode() & 0o077 != 0
        }
        Err(error) => return Err(error),
    };
    if taken {
        return fresh.canonicalize();
    }
    fs::remove_dir(&fresh)?;
    make_writable(&shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Scratch {
            let path = env::temp_dir().join(format!("tessella-test-{}", unique()));
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key(name: &str) -> Key {
        Key::of(&[("name", name.as_bytes())])
    }

    fn put(content: &'static [u8]) -> impl FnOnce(&Path) -> Result<(), RuntimeError> {
        move |folder| {
            fs::write(folder.join("code"), content).unwrap();
            Ok(())
        }
    }

    fn never(_: &Path) -> Result<(), RuntimeError> {
        panic!("made although it is there")
    }

    #[test]
    fn an_entry_is_made_once_and_found_afterwards() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        let made = cache.find_or_make(&key("a"), "code", put(b"one")).unwrap();
        assert_eq!((made.origin, made.content.as_slice()), (Origin::Made, b"one".as_slice()));
        let found = cache.find_or_make(&key("a"), "code", never).unwrap();
        assert_eq!((found.origin, found.content.as_slice()), (Origin::Found, b"one".as_slice()));
        assert_eq!(found.path, made.path);
        assert!(cache.find(&key("b"), "code").is_none());
    }

    #[test]
    fn keys_differ_when_the_same_bytes_are_cut_into_other_parts() {
        assert_ne!(Key::of(&[("a", b"bc")]), Key::of(&[("ab", b"c")]));
        assert_ne!(Key::of(&[("a", b"b"), ("c", b"")]), Key::of(&[("a", b"b")]));
    }

    #[test]
    fn a_damaged_entry_is_made_again() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        let made = cache.find_or_make(&key("a"), "code", put(b"the code")).unwrap();
        fs::write(&made.path, b"the co").unwrap();
        assert!(cache.find(&key("a"), "code").is_none());
        let again = cache.find_or_make(&key("a"), "code", put(b"the code")).unwrap();
        assert_eq!(again.origin, Origin::Made);
        assert_eq!(fs::read(&again.path).unwrap(), b"the code");
        fs::remove_file(hash_file(&again.path)).unwrap();
        assert_eq!(cache.find_or_make(&key("a"), "code", put(b"the code")).unwrap().origin, Origin::Made);
        cache.find_or_make(&key("a"), "code", never).unwrap();
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        let error =
            cache.find_or_make(&key("a"), "code", |_| Err(RuntimeError::ArgumentCount { expected: 1, found: 0 }));
        assert!(matches!(error, Err(RuntimeError::ArgumentCount { .. })));
        assert_eq!(folder_entries(&scratch.0), Vec::<PathBuf>::new());
    }

    #[test]
    fn of_several_that_race_one_wins_and_all_get_its_file() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        let together = Barrier::new(8);
        let made: Vec<Cached> = std::thread::scope(|scope| {
            let race = || {
                cache.find_or_make(&key("a"), "code", |folder| {
                    together.wait();
                    put(b"same")(folder)
                })
            };
            let running: Vec<_> = (0..8).map(|_| scope.spawn(race)).collect();
            running.into_iter().map(|it| it.join().unwrap().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|it| it.origin == Origin::Made).count(), 1);
        assert!(made.iter().all(|it| it.content == b"same" && it.path == made[0].path));
        assert_eq!(folder_entries(&scratch.0).len(), 1);
    }

    #[test]
    fn the_entries_used_longest_ago_are_removed_first() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        for (name, minutes) in [("old", 30), ("older", 60), ("oldest", 90)] {
            let made = cache.find_or_make(&key(name), "code", put(&[7; 200])).unwrap();
            let past = SystemTime::now() - Duration::from_secs(60 * minutes);
            for file in folder_entries(made.path.parent().unwrap()) {
                File::options().write(true).open(file).unwrap().set_modified(past).unwrap();
            }
        }
        // Two entries, each with its hash, fit.
        let cache = cache.with_limit(600);
        cache.find(&key("oldest"), "code").unwrap();
        cache.find_or_make(&key("new"), "code", put(&[7; 200])).unwrap();
        let there = |name: &str| cache.root.join(key(name).hex()).exists();
        assert!(there("new") && there("oldest"), "just used");
        assert!(!there("older") && !there("old"), "used longest ago");
    }

    #[test]
    fn left_overs_of_killed_processes_go_after_a_day() {
        let scratch = Scratch::new();
        let cache = Cache::at(&scratch.0).unwrap();
        let left = scratch.0.join("making-1-2-3");
        fs::create_dir(&left).unwrap();
        cache.find_or_make(&key("a"), "code", put(b"")).unwrap();
        assert!(left.exists());
        let past = SystemTime::now() - 2 * LEFT_OVER;
        File::open(&left).unwrap().set_modified(past).unwrap();
        cache.find_or_make(&key("b"), "code", put(b"")).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_replaced_by_a_temporary_one() {
        let scratch = Scratch::new();
        let file = scratch.0.join("file");
        fs::write(&file, b"").unwrap();
        let cache = Cache::at_or_temporary(file.join("cache")).unwrap();
        let (wanted, reason) = cache.fallback_from().unwrap();
        assert_eq!(wanted, file.join("cache"));
        assert!(!reason.is_empty());
        assert!(cache.root().starts_with(env::temp_dir().canonicalize().unwrap()));
        assert!(matches!(Cache::at(file.join("cache")), Err(RuntimeError::File { .. })));
    }

    #[test]
    fn a_temporary_folder_that_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        let first = private_temporary(&scratch.0).unwrap();
        assert_eq!(private_temporary(&scratch.0).unwrap(), first);
        fs::set_permissions(&first, fs::Permissions::from_mode(0o777)).unwrap();
        assert_ne!(private_temporary(&scratch.0).unwrap(), first);
    }
}
