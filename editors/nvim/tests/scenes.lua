-- The scenes of screenshot.py, played inside the Neovim that is photographed. AZIMUTH_SCENE says which.

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

local fill_server = require("fill_server")
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

local module = [[
--- Temperatures, from one scale to the other.
local M = {}

local OFFSET = 30

--- The coldest that anything can be, in degrees Celsius.
M.ABSOLUTE_ZERO = -273.15

--- The temperature in degrees Fahrenheit.
---@param celsius number
---@return number
function M.to_fahrenheit(celsius)
  return celsius * 9 / 5 + OFFSET
end

--- The temperature in degrees Celsius.
---@param fahrenheit number
---@return number
function M.to_celsius(fahrenheit)
  return (fahrenheit - OFFSET) * 5 / 9
end

--- The temperature in kelvins.
---@param celsius number
---@return number
function M.to_kelvin(celsius)
  return celsius - M.ABSOLUTE_ZERO
end

--- How warm it feels in the wind, for 10 °C and below.
---@param celsius number
---@param wind number In kilometres an hour, 5 and above.
---@return number
function M.felt(celsius, wind)
  local cooling = wind ^ 0.16
  return 13.12 + 0.6215 * celsius - 11.37 * cooling + 0.3965 * celsius * cooling
end

return M
]]

local SCALED = "  return celsius * 9 / 5 + OFFSET\nend\n"
local ASSERTED = "  assert(celsius >= M.ABSOLUTE_ZERO, \"colder than anything can be\")\n"
-- The answer of a model that is told to refuse what is colder than absolute zero.
local REFUSED = models.replace("src/temperature.lua", SCALED, ASSERTED .. SCALED)

local found = [[
The offset is **30** and must be **32**: 0 °C is 32 °F.
`to_fahrenheit` and `to_celsius` both use it, so they agreed with each other and a test of one against the other passed.

1. `OFFSET` is fixed.
2. `is_frozen` is the check that the forecast makes in three places.

```lua
temperature.to_fahrenheit(0)   -- was 30, is 32
temperature.to_celsius(212)    -- was 101.1, is 100
temperature.is_frozen(-1)      -- true
```

`felt` and `to_kelvin` do not use the offset and are right as they are. Both changes wait for your review.
]]

local scenes = {
  overview = {
    file = "src/temperature.lua",
    answers = {
      { calls = { { name = "search_text", input = { query = "OFFSET" } }, { name = "read_file", input = { path = "src/temperature.lua" } } } },
      {
        thinking = "Water freezes at 32 degrees Fahrenheit.\nThe offset says 30.",
        calls = {
          { name = "edit_replace_exact", input = { path = "src/temperature.lua", old_text = "local OFFSET = 30\n", new_text = "local OFFSET = 32\n" } },
          {
            name = "edit_replace_exact",
            input = {
              path = "src/temperature.lua",
              old_text = "--- The temperature in kelvins.\n",
              new_text = "--- True if water is solid.\nfunction M.is_frozen(celsius)\n  return celsius <= 0\nend\n\n--- The temperature in kelvins.\n",
            },
          },
        },
      },
      { text = found },
    },
    prompt = "It says 30 °F at the freezing point. Why? Fix it in @src/temperature.lua, and add is_frozen.",
    until_text = "Done",
  },
  live = {
    file = "src/temperature.lua",
    answers = {
      { calls = { { name = "read_file", input = { path = "src/temperature.lua" } } } },
      {
        text = "The offset is wrong, and `is_frozen` is missing.",
        calls = {
          { name = "edit_replace_exact", input = { path = "src/temperature.lua", old_text = "local OFFSET = 30\n", new_text = "local OFFSET = 32\n" } },
          {
            name = "edit_replace_exact",
            input = {
              path = "src/temperature.lua",
              old_text = "--- The temperature in kelvins.\n",
              new_text = "--- True if water is solid.\nfunction M.is_frozen(celsius)\n  return celsius <= 0\nend\n\n--- The temperature in kelvins.\n",
            },
          },
        },
        call_pieces = 20,
        held = true,
      },
    },
    prompt = "Fix it in @src/temperature.lua, and add is_frozen.",
    until_text = "+function M.is_frozen",
  },
  undo = {
    file = "src/temperature.lua",
    settings = "accept_edits = true",
    answers = {
      {
        calls = {
          { name = "edit_replace_exact", input = { path = "src/temperature.lua", old_text = "local OFFSET = 30\n", new_text = "local OFFSET = 32\n" } },
          { name = "edit_replace_exact", input = { path = "src/temperature.sh", old_text = "* 9 / 5 + 30", new_text = "* 9 / 5 + 32" } },
          { name = "edit_replace_exact", input = { path = "src/test.sh", old_text = "sh src/temperature.sh 0\n", new_text = "sh src/temperature.sh 100\n" } },
          { name = "edit_create_file", input = { path = "src/temperature_test.lua", content = "assert(true)\n" } },
        },
      },
      { text = "All four are changed." },
    },
    prompt = "Mend the conversion in every file.",
    until_text = "Done",
    after = function()
      vim.fn.writefile({ "sh src/temperature.sh 100 && echo mine" }, "src/test.sh")
      vim.cmd("stopinsert | Azimuth undo")
    end,
  },
  undone = {
    settings = "accept_edits = true",
    answers = {
      {
        calls = {
          { name = "edit_replace_exact", input = { path = "src/temperature.lua", old_text = "local OFFSET = 30\n", new_text = "local OFFSET = 32\n" } },
          { name = "edit_replace_exact", input = { path = "src/test.sh", old_text = "sh src/temperature.sh 0\n", new_text = "sh src/temperature.sh 100\n" } },
        },
      },
      { text = "Both are changed." },
    },
    prompt = "Mend the conversion in every file.",
    until_text = "Done",
    after = function()
      vim.fn.writefile({ "sh src/temperature.sh 100 && echo mine" }, "src/test.sh")
      local client = require("azimuth.client")
      client.request("azimuth/checkpoint/undo", { sessionId = client.session() })
    end,
  },
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
  form = {
    answers = {
      {
        calls = {
          {
            name = "ask_user",
            input = {
              questions = {
                {
                  header = "Scale",
                  question = "Which scales should it know?",
                  multiple = true,
                  options = {
                    { label = "Kelvin", description = "Begins where nothing can be colder.", recommended = true },
                    { label = "Rankine" },
                  },
                },
                {
                  header = "Rounding",
                  question = "How is the result rounded?",
                  options = {
                    { label = "Not at all", description = "As the shell counts: whole numbers, cut off." },
                    { label = "To a tenth", description = "Needs bc, which is not everywhere.", recommended = true },
                  },
                },
              },
            },
          },
        },
      },
    },
    prompt = "Have it know more scales.",
    until_text = "[a]",
    after = function()
      vim.cmd("stopinsert | Azimuth permission")
    end,
  },
  fallback = {
    file = "src/temperature.lua",
    models = { "m", "larger" },
    answers = { { status = "429 Too Many Requests", headers = { "retry-after: 3600" } }, { text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
  },
  beginnings = {
    file = "src/temperature.lua",
    answers = { { text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
    after = function()
      vim.cmd("stopinsert | Azimuth new")
      vim.wait(10000, function()
        local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr("azimuth://chat"), 0, -1, false)
        return vim.tbl_contains(lines, "Go on with")
      end, 10)
    end,
  },
  -- One question is allowed, and one refused with a word; that the cost is not known is said at the first end.
  answered = {
    file = "src/temperature.lua",
    answers = {
      { text = "I run the tests.", calls = { { name = "shell_run", input = { command = "sh src/test.sh && echo all pass" } } } },
      { text = "They pass, so I send it out.", calls = { { name = "shell_run", input = { command = "make deploy --always-make TARGET=production" } } } },
      { text = "Then I leave it here." },
      { text = "You are welcome." },
    },
    prompt = "Do the tests pass? Then send it out.",
    until_text = "[a]",
    after = function()
      local client, permission = require("azimuth.client"), require("azimuth.permission")
      local function answer_next(option, message, next)
        local asked
        vim.wait(10000, function()
          asked = permission.open()[1]
          return asked ~= nil
        end, 10)
        permission.answer(asked, vim.iter(asked.request.options):find(function(it)
          return it.kind == option
        end), message)
        vim.wait(10000, next, 10)
      end
      answer_next("allow_once", nil, function()
        return permission.open()[1] == nil
      end)
      answer_next("reject_once", "not to production", function()
        return client.state().running == nil
      end)
      require("azimuth.input").send_text("Thank you.")
      vim.wait(10000, function()
        local last = client.state().entries[#client.state().entries]
        return last and last.kind == "turn_end"
      end, 10)
    end,
  },
  shell = {
    settings = 'permissions.allow = ["Shell"]',
    answers = {
      { text = "I start the site, then send it out.", calls = { { name = "shell_start", input = { command = "python3 -u -m http.server --bind 127.0.0.1 0" } } } },
      { calls = { { name = "shell_run", input = { command = "read -p 'Send it to production? [y/N] ' answer" } } } },
      { text = "It asks whether to go on.", held = true },
    },
    prompt = "Try the site here, then send it out.",
    until_text = "It asks whether",
    after = function()
      vim.cmd("stopinsert | Azimuth! terminal job-1")
    end,
  },
  jobs = {
    settings = 'permissions.allow = ["Shell"]',
    answers = {
      { calls = { { name = "shell_start", input = { command = "python3 -u -m http.server --bind 127.0.0.1 0" } } } },
      { calls = { { name = "shell_start", input = { command = "sh src/test.sh && exit 2" } } } },
      { calls = { { name = "shell_run", input = { command = "read -p 'Send it to production? [y/N] ' answer" } } } },
      { text = "It asks whether to go on.", held = true },
    },
    prompt = "Try the site here, then send it out.",
    until_text = "It asks whether",
    after = function()
      vim.cmd("stopinsert | Azimuth jobs")
    end,
  },
  ran = {
    answers = {},
    prompt = "!for i in 1 2 3; do echo $i; done; ls -l src",
    until_text = "temperature.sh",
    after = function()
      require("azimuth.input").send_text("!!make deploy-check")
    end,
  },
  bypass = {
    answers = {},
    prompt = "!true",
    until_text = "true",
    after = function()
      vim.cmd.stopinsert()
      vim.defer_fn(function()
        vim.cmd("Azimuth mode bypass")
      end, 100)
    end,
  },
  rules = {
    settings = 'permissions.allow = ["Shell(cargo build:*)"]\npermissions.deny = ["Shell(rm:*)", "Read(.env)"]',
    answers = { { calls = { { name = "shell_run", input = { command = "touch src/new.sh" } } } }, { text = "It is made." } },
    prompt = "!true",
    until_text = "true",
    after = function()
      vim.cmd("stopinsert | Azimuth permissions")
    end,
  },
  costs = {
    settings = 'session_budget = 5\nday_budget = 20\n[[providers.test.model]]\nid = "m"\n[providers.test.model.price]\ninput = 3\noutput = 15',
    answers = { { calls = { { name = "read_file", input = { path = "src/temperature.sh" } } } }, { text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
    after = function()
      vim.cmd("stopinsert | Azimuth costs")
    end,
  },
  trust = {
    asks_trust = true,
    answers = {},
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "[A]",
  },
  picker = {
    answers = { { text = answer } },
    prompt = "What is wrong in @src/temperature.sh ?",
    until_text = "Done",
    after = function()
      vim.cmd("Azimuth models")
    end,
  },
  suggestion = {
    file = "src/temperature.lua",
    fill = "celsius)\n  return M.to_fahrenheit(celsius) + 459.67\nend",
    answers = {},
    after = function()
      vim.cmd("stopinsert | Azimuth chat")
      vim.wait(10000, function()
        return require("azimuth.inline").state() == "ready" and vim.api.nvim_get_mode().mode == "n"
      end, 10)
      vim.api.nvim_input("GO<CR><Up><C-o>zzfunction M.to_rankine(")
    end,
  },
  next_edit = {
    file = "src/temperature.lua",
    answers = {},
    edit = function(window)
      local lines = "  local fahrenheit = celsius * 9 / 5 + OFFSET\n  return M.rounded(fahrenheit, digits)\n"
      return (
        window
          :gsub("  return celsius %* 9 / 5 %+ OFFSET\n", lines, 1)
          :gsub("M.to_celsius%(fahrenheit%)", "M.to_celsius(fahrenheit, digits)", 1)
      )
    end,
    after = function()
      vim.cmd("Azimuth chat")
      vim.wo.number, vim.wo.signcolumn = true, "yes"
      vim.wait(10000, function()
        return require("azimuth.inline.edits").model() ~= nil
      end, 10)
      vim.api.nvim_win_set_cursor(0, { 12, 32 })
      vim.api.nvim_input("a, digits<Esc>")
      vim.wait(10000, require("azimuth.inline").edit_visible, 10)
    end,
  },
  -- The words are being written, and the hunks of the instruction before are still there.
  change = {
    file = "src/temperature.lua",
    answers = {
      {
        calls = {
          REFUSED,
          {
            name = "edit_replace_exact",
            input = {
              path = "src/temperature.lua",
              old_text = "  return (fahrenheit - OFFSET) * 5 / 9\n",
              new_text = "  local celsius = (fahrenheit - OFFSET) * 5 / 9\n  assert(celsius >= M.ABSOLUTE_ZERO, \"colder than anything can be\")\n  return celsius\n",
            },
          },
        },
      },
      { text = "Done." },
    },
    after = function()
      vim.cmd("stopinsert | Azimuth chat")
      vim.wo.number, vim.wo.signcolumn = true, "yes"
      vim.cmd("12,21Azimuth change Refuse what is colder than absolute zero.")
      vim.wait(10000, function()
        local bufnr = vim.fn.bufnr("src/temperature.lua")
        return #require("azimuth.review.marks").list(bufnr) == 2 and require("azimuth.change").running() == 0
      end, 10)
      vim.api.nvim_input("14G<Space>akSay the temperature in the message")
    end,
  },
  changing = {
    file = "src/temperature.lua",
    answers = {
      {
        calls = { REFUSED },
        call_pieces = 12,
        held = true,
      },
    },
    after = function()
      vim.cmd("stopinsert | Azimuth chat")
      vim.wo.number, vim.wo.signcolumn = true, "yes"
      vim.api.nvim_win_set_cursor(0, { 14, 0 })
      vim.cmd("12,14Azimuth change Refuse what is colder than absolute zero.")
      vim.wait(10000, function()
        local namespace = vim.api.nvim_get_namespaces()["azimuth.change.sign"]
        local mark = namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
        return mark and mark[4].virt_text[1][1]:find("so far", 1, true)
      end, 10)
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
local place = support.place({
  ["src/temperature.sh"] = source,
  ["src/temperature.lua"] = module,
  ["src/test.sh"] = "sh src/temperature.sh 0\n",
}, "weather")
for name, value in pairs(support.environment(place)) do
  if name:match("^XDG") or name == "HOME" then
    vim.env[name] = value
  end
end
local settings = scene.settings
if scene.fill then
  local model = fill_server.start(function()
    return scene.fill
  end)
  settings = ('completion_model = "llama.cpp/"\nproviders."llama.cpp".base_url = "%s"'):format(model.url)
end
if scene.edit then
  settings = fill_server.start(function() end, scene.edit):edit_configuration()
end
support.use_model(place, models.start(scene.answers), settings, scene.models)
vim.cmd.cd(place.project)
vim.o.termguicolors = true
vim.o.swapfile = false
vim.o.laststatus = 2
vim.g.mapleader = " "
require("azimuth").setup({ cmd = { vim.env.AZIMUTH_SERVER, "lsp" }, trust = not scene.asks_trust or nil })
vim.cmd("runtime plugin/azimuth.lua")
vim.cmd.edit(scene.file or "src/temperature.sh")
if scene.file then
  vim.treesitter.start()
  vim.wo.statusline = " %{fnamemodify(getcwd(), ':t')}/%f %m%=%l,%c "
end
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
