-- The scenes of review and terminal, played inside the Neovim that is photographed. AZIMUTH_SCENE says which.

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
local tests = vim.fs.dirname(here)
package.path = tests .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(tests))

local models = require("model")
local support = require("support")

local source = [[
-- Temperatures, from one scale to the other.
local M = {}

--- The temperature in degrees Fahrenheit.
function M.to_fahrenheit(celsius)
  return celsius * 9 / 5 + 30
end

--- The temperature in degrees Celsius.
function M.to_celsius(fahrenheit)
  return (fahrenheit - 32) * 5 / 9
end

-- Kept for old callers.
function M.convert(value)
  return M.to_fahrenheit(value)
end

return M
]]

---@param path string
---@param old string
---@param new string
local function replace(path, old, new)
  return { name = "edit_replace_exact", input = { path = path, old_text = old, new_text = new } }
end

local edits = {
  replace("src/temperature.lua", "  return celsius * 9 / 5 + 30\n", "  return celsius * 9 / 5 + 32\n"),
  replace(
    "src/temperature.lua",
    "--- The temperature in degrees Celsius.\n",
    "--- Whether water is solid at a temperature, in degrees Celsius, at the pressure of the air at sea level on an ordinary day.\nfunction M.is_frozen(celsius)\n  return celsius <= 0\nend\n\n--- The temperature in degrees Celsius.\n"
  ),
  replace("src/temperature.lua", "-- Kept for old callers.\nfunction M.convert(value)\n  return M.to_fahrenheit(value)\nend\n\n", ""),
  { name = "edit_create_file", input = { path = "src/temperature_test.lua", content = 'local temperature = require("temperature")\n\nassert(temperature.to_fahrenheit(0) == 32)\nassert(temperature.is_frozen(-1))\n' } },
}

local function proposal()
  return {
    { calls = { { name = "read_file", input = { path = "src/temperature.lua" } } } },
    { calls = edits },
    { text = "Four hunks wait." },
  }
end

--- A command that changes a line, adds some and takes some away.
local function commanded()
  local command = "sed -i -e 's/5 + 30/5 + 32/' -e '/^-- Kept/,/^end/d' -e '/^local M/a M.FREEZING = 0' src/temperature.lua"
  return { { calls = { { name = "shell_run", input = { command = command } } } }, { text = "It has run." } }
end

local scenes = {
  landed = { answers = commanded(), settings = 'permissions.allow = ["Shell"]', hunks = 3, after = function() end },
  beside = {
    answers = commanded(),
    settings = 'permissions.allow = ["Shell"]',
    hunks = 3,
    after = function()
      vim.cmd("Azimuth diff")
    end,
  },
  inline = { answers = proposal(), hunks = 3, after = function() end },
  conflict = {
    answers = proposal(),
    hunks = 3,
    after = function()
      vim.api.nvim_buf_set_lines(0, 5, 6, false, { "  return celsius * 1.8 + 30" })
      vim.api.nvim_win_set_cursor(0, { 6, 0 })
    end,
  },
  diff = {
    answers = proposal(),
    hunks = 3,
    after = function()
      vim.cmd("Azimuth diff")
    end,
  },
  quickfix = {
    answers = proposal(),
    hunks = 3,
    after = function()
      vim.cmd("Azimuth hunks")
      vim.cmd("redraw")
    end,
  },
  new = {
    answers = proposal(),
    hunks = 3,
    after = function()
      vim.cmd("Azimuth review")
    end,
  },
  terminal = {
    answers = {
      {
        calls = {
          {
            name = "shell_run",
            input = { command = "ls -la --color=always; printf 'Overwrite \\033[1;33mtemperature.lua\\033[0m? [y/n] '; read answer" },
          },
        },
      },
      { text = "It ran." },
    },
    permission = true,
    after = function()
      vim.cmd("Azimuth terminal")
    end,
  },
}

local scene = assert(scenes[vim.env.AZIMUTH_SCENE], "no such scene")
local place = support.place({ ["src/temperature.lua"] = source }, "weather")
for name, value in pairs(support.environment(place)) do
  if name:match("^XDG") or name == "HOME" then
    vim.env[name] = value
  end
end
support.use_model(place, models.start(scene.answers), scene.settings)
vim.cmd.cd(place.project)
vim.o.termguicolors = true
vim.o.swapfile = false
vim.o.laststatus = 2
vim.o.number = true
vim.o.statusline = " %f %m%=%{%v:lua.require'azimuth.status'.get()%} "
vim.g.mapleader = " "
require("azimuth").setup({ cmd = { vim.env.AZIMUTH_SERVER, "lsp" }, trust = true })
vim.cmd("runtime plugin/azimuth.lua")
vim.cmd.edit("src/temperature.lua")
vim.treesitter.start()
local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
client.new_session(nil, function(err, session_id)
  assert(not err, vim.inspect(err))
  client.request(protocol.requests.turn_start, { sessionId = session_id, prompt = { { type = "text", text = "Mend it." } } })
end)

local timer = assert(vim.uv.new_timer())
local answered = false
timer:start(50, 50, vim.schedule_wrap(function()
  local state = client.state()
  if timer:is_closing() or not state then
    return
  end
  if scene.permission and state.questions[1] and not answered then
    answered = true
    local question = state.questions[1]
    client.request(protocol.requests.permission_answer, {
      sessionId = client.session(),
      permissionId = question.permissionId,
      optionId = question.options[1].optionId,
    })
  end
  local shown = scene.hunks and #require("azimuth.review.marks").list(vim.api.nvim_get_current_buf()) or 0
  if (scene.hunks and shown >= scene.hunks and not state.running) or (scene.permission and #state.terminals > 0) then
    timer:close()
    scene.after()
    vim.defer_fn(function()
      support.write(vim.env.AZIMUTH_SCENE_DONE, "")
    end, 700)
  end
end))
