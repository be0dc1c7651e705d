"""Programs of i386, unpacked beside the system: nothing of that architecture gets installed but
its C library, which comes with the compilers.
"""

from __future__ import annotations

from field_trial.program import Program

FRESH = "fresh"

FETCH = """
state=$PWD/../../i386.state
mkdir -p $state/lists/partial $state/cache/archives/partial; touch $state/status
options="-qq -o APT::Architecture=i386 -o APT::Architectures=i386 -o Dir::State=$state"
options="$options -o Dir::State::status=$state/status -o Dir::Cache=$state/cache"
[ -e $state/fresh ] || { apt-get $options update || echo in part; touch $state/fresh; }
for package in {packages}; do apt-get $options download $package/bookworm; done
for file in *.deb; do dpkg-deb -x $file root; done
rm *.deb
"""

LOADER = "/lib/ld-linux.so.2 --library-path root/lib/i386-linux-gnu:root/usr/lib/i386-linux-gnu"


def _unpacked(name: str, command: str, packages: str, script: str = "", more: str = "") -> Program:
    return Program(
        f"{name}-i386",
        FRESH,
        command,
        ("libc6-i386",),
        (script,) if script else (),
        prepare=FETCH.replace("{packages}", packages) + more,
        environment={
            "LD_LIBRARY_PATH": "root/lib/i386-linux-gnu:root/usr/lib/i386-linux-gnu",
        },
    )


def programs() -> list[Program]:
    """Three of the distribution, one of our own."""
    return [
        _unpacked(
            "zstd",
            "root/usr/bin/zstd -q -19 -f in -o out",
            "zstd libzstd1 liblzma5 liblz4-1 zlib1g libgcc-s1 libstdc++6",
            more="cat /usr/bin/g* | head -c 30M > in",
        ),
        _unpacked("perl", "root/usr/bin/perl work.perl", "perl-base libcrypt1", "work.perl"),
        _unpacked(
            "sqlite3",
            "root/usr/bin/sqlite3 < work.sql",
            "sqlite3 libsqlite3-0 libreadline8 libtinfo6 zlib1g",
            "work.sql",
        ),
        Program(
            "c-i386",
            FRESH,
            "./work",
            ("gcc-12-multilib",),
            ("work.c",),
            prepare="/usr/bin/gcc-12 -m32 -O2 -fomit-frame-pointer -s work.c -o work",
        ),
    ]
