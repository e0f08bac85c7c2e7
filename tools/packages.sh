# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# What the tool box is made of. rustc, bindgen and gcc come from the release itself, because
# the stock kernel is built with exactly those and Rust symbol names depend on the compiler;
# QEMU comes from backports, because vfio-user-pci is younger than the release's own.

BOX_PACKAGES=(
	build-essential gcc-14 rustc rust-src bindgen libclang-19-dev cargo rustfmt rust-clippy
	clang-19 lld-19 llvm-19
	libelf-dev libssl-dev flex bison bc kmod cpio xz-utils zstd python3 perl pahole
	busybox-static ca-certificates
)
BACKPORTS_PACKAGES=(qemu-system-x86)
