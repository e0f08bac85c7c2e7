# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
#
# What the kernel log says when something is wrong with the kernel: an extended regular
# expression for grep, also of what the debug kernel's checkers print.

KERNEL_REPORTS='WARNING:|BUG:|Oops:|Call Trace:|UBSAN:|ODEBUG:|DMA-API: .*device driver'
KERNEL_REPORTS="$KERNEL_REPORTS|INFO: (task|trying to register)|refcount_t:"
KERNEL_REPORTS="$KERNEL_REPORTS|kmemleak: [0-9]+ new suspected"
