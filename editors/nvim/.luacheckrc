-- For luacheck, which tests/editors runs: names that are unknown, unused or shadowed.
std = "luajit"
globals = { "vim" }
max_line_length = false
