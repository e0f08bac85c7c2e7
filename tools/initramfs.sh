# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The guest's file system, in two archives that the kernel unpacks one over the other: a base
# (busybox, init, the stock driver's modules), kept in the cache, and one for each run (the
# repository's selftests, our module, what to do).

# Modules of the distribution that guests can load, with all that they depend on.
GUEST_MODULES=(mlx5_core pci-stub 8021q)

# The files of a module and its dependencies, as modules.dep names them.
module_files() {
	awk -v name="$1.ko" -F': *' '
		{ n = split($1, part, "/"); file = part[n]; sub(/\.xz$/, "", file) }
		file == name {
			print $1
			n = split($2, dep, " ")
			for (i = 1; i <= n; i++)
				print dep[i]
		}
	' "$PREPARED/image/usr/lib/modules/$KREL/modules.dep"
}

make_base() {
	local into=$1 tree=$1/tree modules name file=
	modules=lib/modules/$KREL
	mkdir -p "$tree"/{bin,sbin,etc,proc,sys,dev,tmp,root,selftests/kselftest,"$modules"}
	cp "$BOX/usr/bin/busybox" "$tree/bin/busybox"
	install -m 755 "$REPO/tools/in-guest/init" "$tree/init"
	install -m 755 "$REPO/tools/in-guest/run-tests" "$tree/sbin/run-tests"
	in_box gcc -O2 -Wall -Werror -static -o "$tree/sbin/hca" "$REPO/tools/in-guest/hca.c"
	# kselftests look for the kernel's helpers beside their own folder.
	cp "$SOURCE"/tools/testing/selftests/kselftest/*.sh "$tree/selftests/kselftest/"
	ln -s selftests/kselftest "$tree/kselftest"
	for name in "${GUEST_MODULES[@]}"; do
		for file in $(module_files "$name"); do
			mkdir -p "$tree/$modules/${file%/*}"
			case $file in
			*.xz)
				in_box xz -dc "/kernel/image/usr/$modules/$file" \
					>"$tree/$modules/${file%.xz}"
				;;
			*) cp "$PREPARED/image/usr/$modules/$file" "$tree/$modules/$file" ;;
			esac
		done
		# The debug kernel has some of them built in, and does without others.
		test -n "${file:-}" || [[ $KERNEL == debug ]]
		file=
	done
	in_box depmod -b "$tree" "$KREL"
	pack "$tree" "$into/base.cpio"
	rm -rf "$tree"
}

# Usage: pack TREE ARCHIVE
pack() {
	# shellcheck disable=SC2016 # Expanded by the inner shell.
	in_box sh -c 'cd "$0" && find . -mindepth 1 | sort | cpio -o -H newc -R 0:0 --quiet >"$1"' \
		"$1" "$2"
}

# Sets BASE to the archive. Usage: base_archive
base_archive() {
	local name
	name=guest-$(key_of "$PREPARED" "$BOX" "$(cat "$REPO"/tools/{in-guest/*,initramfs.sh})")
	if [[ ! -d $CACHE/$name ]]; then
		lock_stages guest "making the guest's file system"
		stage "$name" "guest: base file system" make_base
		unlock
	fi
	touch -c "$CACHE/$name"
	BASE=$CACHE/$name/base.cpio
}
