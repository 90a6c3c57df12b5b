-- The scenes of screenshot.py, played inside the Neovim that is photographed. AZIMUTH_SCENE says which.

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

local models = require("model")
local support = require("support")

local source = [[
#!/bin/sh
# Temperatures, from one scale to the other.

celsius_to_fahrenheit() {
  echo $(($1 * 9 / 5 + 30))
}

fahrenheit_to_celsius() {
  echo $((($1 - 32) * 5 / 9))
}

celsius_to_fahrenheit "$1"
]]

local answer = [[
The conversion adds **30** where it must add **32**.
So every temperature comes out too low by two degrees.

## What to change

1. `celsius_to_fahrenheit` in `src/temperature.sh`
2. nothing else: `fahrenheit_to_celsius` is right

```sh
celsius_to_fahrenheit() {
  echo $(($1 * 9 / 5 + 32))
}
```

> The freezing point is a good test: 0 °C is 32 °F.
]]

local scenes = {
  answer = {
    answers = { { thinking = "The offset is wrong.\nI check the other function.\nIt is right.", text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
  },
  tools = {
    answers = {
      { text = "I look for the function first.", calls = { { name = "search_text", input = { query = "fahrenheit" } } } },
      { calls = { { name = "read_file", input = { path = "src/temperature.sh" } }, { name = "read_file", input = { path = "no/such.sh" } } } },
      {
        text = "One line changes.",
        calls = {
          {
            name = "edit_replace_exact",
            input = { path = "src/temperature.sh", old_text = "* 9 / 5 + 30", new_text = "* 9 / 5 + 32" },
          },
        },
      },
      { text = "The change waits for your review." },
    },
    prompt = "Mend the conversion.",
    until_text = "Done",
  },
  permission = {
    answers = { { text = "I run the tests.", calls = { { name = "shell_run", input = { command = "make test && ./deploy --dry-run" } } } } },
    prompt = "Do the tests pass?",
    until_text = "[a]",
  },
  picker = {
    answers = { { text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
    after = function()
      vim.cmd("Azimuth models")
    end,
  },
  completion = {
    answers = {},
    after = function()
      require("azimuth.chat").focus_input()
      vim.api.nvim_input("Explain @src/t")
    end,
  },
}

local scene = assert(scenes[vim.env.AZIMUTH_SCENE], "no such scene")
local place = support.place({ ["src/temperature.sh"] = source, ["src/test.sh"] = "sh src/temperature.sh 0\n" })
for name, value in pairs(support.environment(place)) do
  if name:match("^XDG") or name == "HOME" then
    vim.env[name] = value
  end
end
support.use_model(place, models.start(scene.answers))
vim.cmd.cd(place.project)
vim.o.termguicolors = true
vim.o.swapfile = false
vim.o.laststatus = 2
vim.g.mapleader = " "
require("azimuth").setup({ cmd = { vim.env.AZIMUTH_SERVER, "lsp" } })
vim.cmd("runtime plugin/azimuth.lua")
vim.cmd.edit("src/temperature.sh")
vim.cmd("Azimuth chat")

local function finish()
  if scene.after then
    scene.after()
  end
  vim.defer_fn(function()
    support.write(vim.env.AZIMUTH_SCENE_DONE, "")
  end, 700)
end

local timer = assert(vim.uv.new_timer())
local sent = false
timer:start(50, 50, vim.schedule_wrap(function()
  if timer:is_closing() or not require("azimuth.client").session() then
    return
  end
  if scene.prompt and not sent then
    sent = true
    require("azimuth.input").send_text(scene.prompt)
  end
  local shown = table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("azimuth://chat"), 0, -1, false), "\n")
  if not scene.until_text or shown:find(scene.until_text, 1, true) then
    timer:close()
    finish()
  end
end))
