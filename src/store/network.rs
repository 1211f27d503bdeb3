//! Whether a file is on a network file system, whose locks and caches depend on a server.

use std::fs;
use std::path::{Path, PathBuf};

/// The types of file systems that several machines may share.
const NETWORK: [&str; 16] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "smb3",
    "smbfs",
];

/// The type of the network file system that holds a file. `None` on local file systems, and where
/// the operating system does not tell.
pub(crate) fn network_file_system(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    network_type(&path, &fs::read_to_string("/proc/self/mountinfo").ok()?)
}

fn network_type(path: &Path, mounts: &str) -> Option<String> {
    let mounts = mounts.lines().filter_map(mount);
    let holding = mounts.filter(|(point, _)| path.starts_with(point));
    // The last of several mounts at one place is the one that is seen.
    let (_, kind) = holding.max_by_key(|(point, _)| point.components().count())?;
    let is_network = NETWORK.contains(&kind) || kind.starts_with("fuse.");
    is_network.then(|| kind.to_owned())
}

/// The mount point and the type in a line of `mountinfo`.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (mount, system) = line.split_once(" - ")?;
    let point = mount.split(' ').nth(4)?;
    // Spaces and the like are octal.
    let point = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(point.to_owned(), |point, (code, character)| point.replace(code, character));
    Some((point.into(), system.split(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_tells_the_file_system() {
        let mounts = "\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 0:40 / /srv/our\\040data rw shared:2 - nfs4 server:/data rw
31 30 8:2 / /srv/our\\040data/local rw - xfs /dev/sdb rw
32 21 0:41 / /mnt rw - fuse.sshfs me@there: rw";
        let kind = |path: &str| network_type(Path::new(path), mounts);
        assert_eq!(kind("/srv/our data/i.twx").as_deref(), Some("nfs4"));
        assert_eq!(kind("/srv/our data/local/i.twx"), None);
        assert_eq!(kind("/srv/i.twx"), None);
        assert_eq!(kind("/mnt/i.twx").as_deref(), Some("fuse.sshfs"));
    }
}
