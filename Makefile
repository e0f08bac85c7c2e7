# SPDX-License-Identifier: GPL-2.0
#
# The commands for people. The kernel's build reads Kbuild, not this file.
#
# Work is done by the scripts in tools/, which set up by themselves what they need.

# What a user writes in CMD and the like goes to the shell as it is: make must not expand a $ in it.
verbatim = $(foreach name,$(1),$(if $(filter-out undefined,$(origin $(name))),\
	$(eval override export $(name) := $$(value $(name)))))
$(call verbatim,CMD APPEND PARAMS)
export MODEL DRIVER TIMEOUT LOG ALLOW_WARNINGS ALLOW_VIOLATIONS ACCEL QUIET TIERS TESTS

.PHONY: modules modules_install demo check guest shell setup clippy rustfmt rustfmtcheck clean clean-cache help
.DEFAULT_GOAL := modules

ifdef KDIR
modules modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@
else
modules:
	@ko=$$(tools/module) && cp "$$ko" mlx5_prm_rs.ko && echo "mlx5_prm_rs.ko is built for the prepared stock kernel"

modules_install:
	@echo "error: say for which kernel: make KDIR=/lib/modules/VERSION/build modules_install" >&2; exit 1
endif

demo:
	@MODEL='$(or $(MODEL),bf2)' exec tools/guest 'sh demo.sh'

check:
	@exec tools/check

guest:
	@exec tools/guest "$$CMD"

shell:
	@exec tools/guest --shell

setup:
	@exec tools/setup $(if $(UPDATE),--update)

clippy:
	@exec tools/module CLIPPY=1 >/dev/null

rustfmt:
	@exec tools/rustfmt

rustfmtcheck:
	@exec tools/rustfmt --check

clean:
	@exec tools/clean
ifdef KDIR
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean
endif

clean-cache:
	@exec tools/clean --cache

help:
	@cat tools/help.txt
