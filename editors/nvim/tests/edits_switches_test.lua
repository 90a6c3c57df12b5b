--- The switches, reasons and commands of suggested edits, in a real Neovim that is driven by keys.

local edits = require("edits_support")
local inline = require("inline_support")
local support = require("support")

local asked, change, shown, start = edits.asked, edits.change, edits.shown, edits.start
local wait, wait_gone = edits.wait, edits.wait_gone
local HEIGHT, TWO, REST = edits.HEIGHT, edits.TWO, edits.REST

local T = {}

function T.off_and_paused_and_closed_files_get_no_edits()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  child:command("Azimuth inline off")
  wait_gone(child)
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 ignored" })
  local before = asked(child)
  inline.type(child, "~")
  support.equal(asked(child), before)
  -- The key still asks.
  inline.type(child, "<M-Up>")
  wait(child)
  support.equal(child:lua("local all = _G.asked('inline_edit') return all[#all][2].trigger"), "invoked")
  child:command("Azimuth inline on")
  child:command("Azimuth inline snooze 5")
  wait_gone(child)
  before = asked(child)
  inline.type(child, "~")
  support.equal(asked(child), before)
  child:command("Azimuth inline snooze 0")
  for _, closed in ipairs({
    "vim.b.azimuth_inline = false",
    "vim.b.azimuth_inline = nil vim.bo.readonly = true",
    "vim.bo.readonly = false vim.wo.diff = true",
    "vim.wo.diff = false require('azimuth.config').values.inline.filetypes = { lua = false }",
    "local now = require('azimuth.config').values.inline now.filetypes = {} now.edits.enabled = false",
  }) do
    child:lua(closed)
    before = asked(child)
    inline.type(child, "~")
    support.equal(asked(child), before, closed)
    assert(child:lua("return require('azimuth.inline.edits').why_not(0)") ~= vim.NIL, closed)
  end
  child:stop()
end

function T.the_key_and_the_list_say_why_there_is_none()
  local child = start({ 4, 0 }, [[function() return "Nothing was changed here lately." end]])
  inline.type(child, "<M-Up>")
  child:wait("vim.fn.execute('messages'):find('Azimuth: Nothing was changed here lately.', 1, true)")
  child:lua("require('azimuth.config').values.inline.edits.enabled = false")
  child:command("Azimuth inline why")
  child:wait([[vim.iter(vim.api.nvim_buf_get_lines(0, 0, -1, false)):any(function(line)
    return line:find("No edits: Suggested edits are off in the settings", 1, true) ~= nil
  end)]])
  child:stop()
end

function T.another_plugin_that_shows_edits_is_left_alone()
  for module, server in pairs({ ["sidekick.nes"] = "copilot", ["copilot-lsp.nes"] = "copilot_ls" }) do
    local child = start({ 4, 0 }, HEIGHT)
    child:lua(([[
      package.loaded[%q] = { enabled = true }
      local get = vim.lsp.get_clients
      vim.lsp.get_clients = function(filter) return filter and filter.name == %q and { {} } or get(filter) end
    ]]):format(module, server))
    inline.type(child, "~")
    support.equal(asked(child), 0)
    support.contains(child:lua("return require('azimuth.inline.edits').why_not(0)"), "suggests edits here")
    child:lua("require('azimuth.config').values.inline.force = true")
    change(child, "~")
    child:stop()
  end
end

function T.without_a_model_nobody_is_asked_and_the_key_asks_the_server_why()
  local child = start({ 4, 0 }, nil)
  inline.type(child, "~")
  support.equal(asked(child), 0)
  inline.type(child, "<M-Up>")
  child:wait("vim.fn.execute('messages'):find('Azimuth: There is nothing.', 1, true)")
  local why = child:lua("return require('azimuth.inline.edits').why_not(0)")
  support.equal(why, "No model is named for edits: `next_edit_model` in config.toml.")
  child:stop()
end

function T.the_commands_do_what_the_keys_do()
  local child = start({ 1, 0 }, TWO)
  change(child)
  child:lua(REST)
  child:lua("_G.next_edit = nil")
  local words = child:lua("return vim.fn.getcompletion('Azimuth edit ', 'cmdline')")
  support.equal(words, { "go", "accept", "reject", "next", "ask" })
  support.equal(child:lua("return vim.fn.getcompletion('Azimuth edit accept ', 'cmdline')"), { "all" })
  child:command("Azimuth edit next")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 5)
  child:command("Azimuth edit next")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 1)
  child:command("Azimuth edit accept")
  child:wait("_G.text()[1] == 'LOcal size = 2'")
  wait(child)
  child:command("Azimuth edit reject all")
  wait_gone(child)
  child:command("Azimuth edit accept")
  child:wait("vim.fn.execute('messages'):find('Azimuth: there is no suggested hunk at the cursor.', 1, true)")
  child:command("Azimuth edit nonsense")
  support.contains(child:lua("return _G.said[#_G.said][1]"), "there is no :Azimuth edit nonsense")
  child:stop()
end

function T.the_end_of_the_server_takes_the_edit_along()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  child:lua([[local client = require("azimuth.client").lsp_client()
    if vim.fn.has("nvim-0.11") == 1 then client:stop(true) else client.stop(true) end]])
  wait_gone(child)
  support.equal(shown(child)[5], "  return width * width")
  child:stop()
end

return T
