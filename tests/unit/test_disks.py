"""Whether a folder is on a disk of this machine, by what the kernel says of its mounts."""

from pathlib import Path

import pytest

from answerback.store.disks import another_machines

MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:32 / /srv rw,nosuid - nfs4 nas:/srv rw,vers=4.2
37 36 0:33 / /srv/disk rw - ext4 /dev/vdb rw
38 22 0:34 / /mnt/a\040share rw master:1 - cifs //nas/share rw
39 22 0:35 / /over rw - nfs4 nas:/over rw
40 22 0:36 / /over rw - tmpfs tmpfs rw
""".strip()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/answerback", ""),
        ("/srv", "nfs4"),
        ("/srv/not/made/yet", "nfs4"),
        ("/srvs", ""),
        ("/srv/disk/answerback", ""),
        ("/mnt/a share/answerback", "cifs"),
        ("/over/answerback", ""),
    ],
)
def test_a_file_system_of_another_machine_is_told_from_ours(path: str, kind: str) -> None:
    assert another_machines(Path(path), MOUNTS) == kind


def test_where_the_kernel_says_nothing_nothing_is_said() -> None:
    assert another_machines(Path("/srv"), "") == ""


def test_this_machine_is_read() -> None:
    assert another_machines(Path("/proc")) == ""
