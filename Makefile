# SPDX-License-Identifier: GPL-2.0
#
# The commands for people. The kernel's build reads Kbuild, not this file.
#
# Work is done by the scripts in tools/, which set up by themselves what they need.

# What a user writes in CMD and the like goes to the shell as it is: make must not expand a $ in it.
verbatim = $(foreach name,$(1),$(if $(filter-out undefined,$(origin $(name))),\
	$(eval override export $(name) := $$(value $(name)))))
$(call verbatim,CMD APPEND PARAMS)
export KERNEL IOMMU CPUS MODEL DRIVER TIMEOUT LOG MODEL_LOG ALLOW_WARNINGS ALLOW_VIOLATIONS ACCEL QUIET TIERS TESTS JOBS
export SEEDS SEED FAULT GROUP COMPARE TABLE BATCH RESULTS FUZZ_SECONDS SECONDS_EACH

# A command ends with make, also if make is killed.
RUN := exec setpriv --pdeathsig TERM

.PHONY: modules modules_install demo check check-debug campaign fuzz guest shell setup clippy
.PHONY: rustfmt rustfmtcheck clean clean-cache help
.DEFAULT_GOAL := modules

ifdef KDIR
modules modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@
else
modules:
	@ko=$$(tools/module) && cp "$$ko" mlx5_prm_rs.ko && \
		echo "mlx5_prm_rs.ko is built for the prepared stock kernel"

modules_install:
	@echo "error: say for which kernel: make KDIR=<tree> modules_install" >&2; exit 1
endif

demo:
	@MODEL='$(or $(MODEL),bf2)' $(RUN) tools/guest 'sh demo.sh'

check:
	@$(RUN) tools/check

check-debug:
	@$(RUN) tools/check --debug

campaign:
	@$(RUN) tools/campaign

fuzz:
	@$(RUN) tools/fuzz

guest:
	@$(RUN) tools/guest "$$CMD"

shell:
	@$(RUN) tools/guest --shell

setup:
	@$(RUN) tools/setup $(if $(UPDATE),--update)

clippy:
	@$(RUN) tools/module CLIPPY=1 >/dev/null

rustfmt:
	@$(RUN) tools/rustfmt

rustfmtcheck:
	@$(RUN) tools/rustfmt --check

clean:
	@$(RUN) tools/clean
ifdef KDIR
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean
endif

clean-cache:
	@$(RUN) tools/clean --cache

help:
	@cat tools/help.txt
