# SPDX-License-Identifier: GPL-2.0
#
# The results of both drivers side by side, as a table in reStructuredText.
#
# Usage: awk -f tools/campaign-table.awk selftests/campaign/faults RESULTS
# RESULTS: driver, fault, seed, word, ms, detail, with tabs between.

function trim(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

# How often each word came, as "ok", or "ok 18, hang 2".
function cell(driver, name,	list, part, n, i, text) {
	n = split(words[driver, name], part, " ")
	if (n == 0)
		return "not run"
	if (n == 1)
		return part[1]
	for (i = 1; i <= n; i++)
		text = text (i > 1 ? ", " : "") part[i] " " times[driver, name, part[i]]
	return text
}

function rule(	i, text) {
	for (i = 1; i <= 4; i++)
		text = text (i > 1 ? " " : "") substr(dashes, 1, width[i])
	print text
}

FILENAME ~ /faults$/ {
	if ($0 !~ /^#/ && split($0, field, "|") >= 5) {
		name[++names] = trim(field[1])
		group[names] = trim(field[2])
	}
	next
}
{
	split($0, field, "\t")
	if (!((field[1], field[2], field[4]) in times))
		words[field[1], field[2]] = words[field[1], field[2]] field[4] " "
	times[field[1], field[2], field[4]]++
	if (!(field[2] in runs))
		runs[field[2]] = 1
}
END {
	dashes = sprintf("%80s", "")
	gsub(/ /, "=", dashes)
	title[1] = "fault"
	title[2] = "group"
	title[3] = "mlx5_prm_rs"
	title[4] = "mlx5_core"
	for (i = 1; i <= 4; i++)
		width[i] = length(title[i])
	for (i = 1; i <= names; i++) {
		if (!(name[i] in runs))
			continue
		text[i, 1] = name[i]
		text[i, 2] = group[i]
		text[i, 3] = cell("mlx5_prm_rs", name[i])
		text[i, 4] = cell("mlx5_core", name[i])
		for (j = 1; j <= 4; j++)
			if (length(text[i, j]) > width[j])
				width[j] = length(text[i, j])
	}
	form = "%-" width[1] "s %-" width[2] "s %-" width[3] "s %s\n"
	rule()
	printf form, title[1], title[2], title[3], title[4]
	rule()
	for (i = 1; i <= names; i++)
		if (name[i] in runs)
			printf form, text[i, 1], text[i, 2], text[i, 3], text[i, 4]
	rule()
}
