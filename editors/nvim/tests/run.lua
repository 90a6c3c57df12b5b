-- Runs the tests: nvim --clean --headless -l editors/nvim/tests/run.lua [part of a file's name ...]
--
-- Where the part begins with a slash, the name does: `/unit_test.lua` is that file only.
-- Each file `*_test.lua` gives a table of tests by name. The end-to-end ones need AZIMUTH_SERVER.

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
vim.opt.runtimepath:prepend(vim.fs.dirname(here))
package.path = here .. "/?.lua;" .. package.path

local wanted = vim.list_slice(_G.arg, 1)
local failed, ran = {}, 0

local files = vim.fn.glob(here .. "/*_test.lua", true, true)
table.sort(files)
for _, file in ipairs(files) do
  local name = vim.fs.basename(file)
  local chosen = #wanted == 0
  for _, part in ipairs(wanted) do
    chosen = chosen or ("/" .. name):find(part, 1, true) ~= nil
  end
  if chosen then
    local tests = dofile(file)
    local names = vim.tbl_keys(tests)
    table.sort(names)
    for _, test in ipairs(names) do
      local began = vim.uv.hrtime()
      local ok, problem = xpcall(tests[test], debug.traceback)
      ran = ran + 1
      io.stdout:write(("%s %s: %s (%d ms)\n"):format(ok and "ok  " or "FAIL", name, test, (vim.uv.hrtime() - began) / 1e6))
      if not ok then
        io.stdout:write(tostring(problem):gsub("\n", "\n     ") .. "\n")
        table.insert(failed, name .. ": " .. test)
      end
    end
  end
end

require("support").clean()
io.stdout:write(("%d tests, %d failed, on Neovim %s\n"):format(ran, #failed, tostring(vim.version())))
os.exit((#failed == 0 and ran > 0) and 0 or 1)
