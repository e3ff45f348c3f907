#!/bin/bash
# enter.sh ROOT PART COMMAND...: mount what the part needs below ROOT, make ROOT the root and run COMMAND in it as pid 1.
# debian-roots.sh starts it in new namespaces: the mounts end with the last process. A chroot would not do: the kernel
# makes no user namespace in it, and the tests of full disks need one.
set -euo pipefail
root=$1
part=$2
shift 2
mount --bind "$root" "$root"
cd "$root"

# borrow SOURCE TARGET: mount a file or folder of the machine read-only at TARGET in the root.
borrow() {
	local source
	source=$(realpath "$1")
	if [[ -d $source ]]; then
		mkdir -p ".$2"
	else
		mkdir -p "$(dirname ".$2")" && touch ".$2"
	fi
	mount --bind "$source" ".$2"
	mount -o remount,bind,ro ".$2"
}

borrow "$GO" /usr/local/go
if [[ -d $MODULES ]]; then borrow "$MODULES" /srv/modules; fi
if [[ $part == ci || $part == ways ]]; then
	borrow "$NODE" /usr/local/bin/node
	borrow "$NPM" /usr/local/lib/node_modules/npm
	ln -s ../lib/node_modules/npm/bin/npm-cli.js usr/local/bin/npm
	ln -s ../lib/node_modules/npm/bin/npx-cli.js usr/local/bin/npx
fi

# What may be written outside of the root is a cache for the next run.
for name in .cache .npm; do
	mkdir -p "$CACHE/$name" ".$USER_HOME/$name"
	chown --reference ".$USER_HOME" "$CACHE/$name" ".$USER_HOME/$name"
	mount --bind "$CACHE/$name" ".$USER_HOME/$name"
done

mount -t proc proc proc
echo debian >proc/sys/kernel/hostname
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys # its other settings are the machine's
mount -t sysfs sysfs sys
mount -o remount,bind,ro sys
# The test of little memory makes a group below its own and removes it.
if [[ -d /sys/fs/cgroup/memory ]]; then
	mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
	mkdir sys/fs/cgroup/memory
	mount --bind /sys/fs/cgroup/memory sys/fs/cgroup/memory
fi
mount -t tmpfs -o mode=755 dev dev
for name in full null random tty urandom zero; do
	touch "dev/$name"
	mount --bind "/dev/$name" "dev/$name"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for name in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${name%:*}" "dev/${name#*:}"; done

pivot_root . mnt
cd /
umount --lazy /mnt
exec "$@"
