# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts in tools/: names and places, messages, locks, stages of the
# set-up, and the way into the tool box (a Debian root with compiler, Rust and QEMU).
#
# Source it; it changes no file by itself, except that it makes the cache folder.

# The one place that names the distribution and the kernel series.
DEBIAN_SUITE=trixie
KERNEL_SERIES=7.3
KERNEL_FLAVOUR=deb13-amd64

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/mlx5_prm_rs

say() { printf '%s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 125; }

# A short name for a list of strings, to name what is made from them.
key_of() { printf '%s\0' "$@" | sha256sum | cut -c1-12; }

# What belongs to this clone alone (module, cargo targets, logs) is kept apart by its path.
CLONE=$CACHE/clones/$(key_of "$REPO")

# make and the compilers cannot cope with blanks and the like in a path: say so at once.
check_places() {
	[[ $CACHE == /* ]] ||
		die "the cache folder '$CACHE' is no absolute path: set XDG_CACHE_HOME"
	local place
	for place in "$REPO" "$CACHE"; do
		[[ $place != *[^a-zA-Z0-9/._+@~-]* ]] ||
			die "kernel builds cannot handle blanks and the like in '$place': move it"
	done
	mkdir -p "$CACHE"/{log,locks,cargo} "$CLONE"
	printf '%s\n' "$REPO" >"$CLONE/path"
}

# Take a lock until this process ends; a second run waits, and says for what.
# Usage: lock NAME "what the other one is doing"
lock() {
	local fd
	exec {fd}>"$CACHE/locks/$1"
	if ! flock -n "$fd"; then
		say "waiting: another run is $2"
		setpriv --pdeathsig TERM flock "$fd"
	fi
	LOCK_FD=$fd
}
unlock() { exec {LOCK_FD}>&-; }

# Say what is built, if anything in the folders is newer than the product.
# Usage: say_if_stale PRODUCT "what is done" FOLDER...
say_if_stale() {
	local product=$1 title=$2
	shift 2
	if [[ ! -e $product ]] || [[ $(find "$@" -type f -newer "$product" -print -quit) ]]; then
		say "- $title"
	fi
}

# Print the seconds that pass during a long stage, when somebody watches a terminal.
ticker() {
	local start=$SECONDS
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		printf '\r  %4d s' $((SECONDS - start)) >&2
	done
}

# Take a lock for stages. Who holds it is alone in its folder for what is half-made: what lies there
# is left from an interrupted run. Usage: lock_stages NAME "what the other one is doing"
lock_stages() {
	lock "$@"
	STAGES_TMP=$CACHE/half-made/$1
	remove_tree "$STAGES_TMP"
	mkdir -p "$STAGES_TMP"
}

# Make the folder $CACHE/NAME once. The recipe (a function or command) gets a temporary
# folder, which becomes the real one only when it is whole: an interrupted run leaves
# nothing half-made, and the next one resumes with this stage.
# Usage: stage NAME "what it does" RECIPE [ARGUMENT...], after lock_stages.
stage() {
	local name=$1 start=$SECONDS
	STAGE_TITLE=$2 STAGE_LOG=$CACHE/log/$1.log
	shift 2
	[[ ! -d $CACHE/$name ]] || return 0
	say "- $STAGE_TITLE"
	STAGES_DONE=$((${STAGES_DONE:-0} + 1))
	STAGE_TMP=$(mktemp -d "$STAGES_TMP/$name.XXXXXX")
	chmod 755 "$STAGE_TMP"
	exec {STAGE_STDERR}>&2
	trap stage_failed EXIT
	STAGE_TICKER=
	if [[ -t 2 ]]; then
		ticker &
		STAGE_TICKER=$!
	fi
	# In this very shell, whose death its children notice; a failure ends it (set -e).
	"$@" "$STAGE_TMP" >"$STAGE_LOG" 2>&1 </dev/null
	stop_ticker
	mv -T "$STAGE_TMP" "$CACHE/$name"
	trap - EXIT
	BOX_OPTIONS=()
	say "  done in $((SECONDS - start)) s"
}

stop_ticker() {
	[[ $STAGE_TICKER ]] || return 0
	kill "$STAGE_TICKER" 2>/dev/null || true
	wait "$STAGE_TICKER" 2>/dev/null || true
	printf '\r' >&"$STAGE_STDERR"
}

stage_failed() {
	local status=$?
	trap - EXIT
	exec 2>&"$STAGE_STDERR"
	stop_ticker
	remove_tree "$STAGE_TMP"
	# By Ctrl-C or another signal: nobody wants to read the log.
	((status <= 128)) || exit "$status"
	say "  failed; the end of $STAGE_LOG:"
	tail -n 25 "$STAGE_LOG" | sed 's/^/  | /' >&2
	die "could not finish: $STAGE_TITLE"
}

# Become a command that ends when the parent is gone, however it went: for elements of a pipeline,
# which are processes of their own.
exec_with_parent() { exec setpriv --pdeathsig TERM "$@"; }

# Folders can hold read-only directories (packages, cargo): make them writable first.
remove_tree() {
	[[ -e $1 ]] || return 0
	chmod -R u+w "$1" 2>/dev/null || true
	rm -rf --one-file-system "$1"
}

# Run a command in the tool box. Its system folders are read-only; the repository and the
# cache are where they are outside; the prepared kernel is at /kernel. Name service and trusted
# certificates are the host's, since they belong to its network. All its processes end with it,
# and it with its parent. Usage: in_box COMMAND [ARGUMENT...]
# BOX_OPTIONS=(...): more for bwrap. BOX_ENV=(NAME...): variables to pass on.
# BOX_EXEC=exec: in place of this shell, so that it is a child of the shell's parent.
BOX_OPTIONS=()
in_box() {
	local root=$BOX pass=() system=() kernel=() name here=$PWD
	local certificates=/etc/ssl/certs/ca-certificates.crt
	for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY TERM CI \
		CARGO_NET_OFFLINE CARGO_HTTP_CAINFO RUST_BACKTRACE "${BOX_ENV[@]}"; do
		[[ -z ${!name+x} ]] || pass+=("$name=${!name}")
	done
	# One by one, so that a clone or cache below /usr/src or /var can be mounted too.
	for name in "$root"/usr/{bin,sbin,lib,lib64,libexec,include,share,src/*}; do
		system+=(--ro-bind "$name" "${name#"$root"}")
	done
	for name in "${SOURCE:-}" "${PREPARED:-}"/{out,image}; do
		[[ ! -d $name ]] || kernel+=(--ro-bind "$name" "/kernel/${name##*/}")
	done
	case $here/ in
	"$REPO"/* | "$CACHE"/*) ;;
	*) here=$REPO ;;
	esac
	${BOX_EXEC:-} env -i "${pass[@]}" PATH=/usr/sbin:/usr/bin HOME=/tmp LANG=C.UTF-8 \
		CARGO_HOME="$CACHE/cargo" bwrap "${system[@]}" \
		--ro-bind "$root/etc" /etc --ro-bind "$root/var/lib/dpkg" /var/lib/dpkg \
		--symlink usr/bin /bin --symlink usr/sbin /sbin \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 \
		--dev-bind /dev /dev --proc /proc --ro-bind /sys /sys \
		--perms 1777 --tmpfs /tmp --perms 1777 --tmpfs /var/tmp --tmpfs /run \
		--ro-bind-try /etc/resolv.conf /etc/resolv.conf \
		--ro-bind-try "$certificates" "$certificates" \
		--bind "$CACHE" "$CACHE" --bind "$REPO" "$REPO" "${kernel[@]}" \
		--chdir "$here" "${BOX_OPTIONS[@]}" --unshare-pid --die-with-parent -- "$@"
}
BOX_ENV=()
