# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# The debug kernel (KERNEL=debug): the stock kernel's source, configured by tools/debug.config. It
# is built by clang, since KASAN and Rust together ask for it. Sourced by tools/setup.

DEBUG_KMAKE=(ARCH=x86_64 LLVM=-19 LOCALVERSION=)
DEBUG_SUFFIX=-debug

# What it is made from, to name it by.
debug_kernel_recipe() {
	declare -f make_debug_kernel
	printf '%s\n' "${DEBUG_KMAKE[@]}" "$DEBUG_SUFFIX"
	cat "$REPO/tools/debug.config"
}

# Kconfig drops without a word an option whose dependencies are not met.
# Usage: compare_options WANTED CONFIG
compare_options() {
	local line bad=0
	while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$2" && continue ;;
		CONFIG_*) grep -q -x -F -e "$line" "$2" && continue ;;
		*) continue ;;
		esac
		echo "tools/debug.config wants $line; Kconfig made $(grep "${line%=*}[ =]" "$2")"
		bad=1
	done <"$1"
	return $bad
}

make_debug_kernel() {
	local into=$1 modules
	mkdir -p "$into"/{out,image}
	# Paths in the build output are those that later builds of modules see.
	BOX_OPTIONS=(--bind "$into/out" /kernel/out --bind "$into/image" /kernel/image)
	kmake() {
		in_box make -s -C /kernel/src O=/kernel/out "${DEBUG_KMAKE[@]}" \
			KERNELRELEASE="$KREL" -j"$(nproc)" "$@"
	}
	kmake tinyconfig
	cat "$REPO/tools/debug.config" >>"$into/out/.config"
	kmake olddefconfig
	compare_options "$REPO/tools/debug.config" "$into/out/.config"
	kmake bzImage modules
	kmake INSTALL_MOD_PATH=/kernel/image/usr modules_install
	modules=$into/image/usr/lib/modules/$KREL
	cp "$into/out/arch/x86/boot/bzImage" "$modules/vmlinuz"
	rm -f "$modules"/{build,source}
	# A module's build wants the objects of the crates and the tools, not the kernel's own.
	find "$into/out" -name '*.o' -not -path '*/scripts/*' -not -path '*/tools/*' -delete
	rm -f "$into/out"/{vmlinux*,arch/x86/boot/bzImage}
}
