--- Finding again what was said earlier: a real Neovim, the real server, a model that answers as it is told.

local models = require("model")
local support = require("support")

local T = {}

--- Has `vim.ui.select` note what it is asked, and choose what the test names in `_G.choose`.
local selects = [[
  vim.ui.select = function(items, options, choose)
    _G.offered = vim.tbl_map(options.format_item, items)
    for at, line in ipairs(_G.offered) do
      if line:find(_G.choose, 1, true) then
        return choose(items[at])
      end
    end
    choose(nil)
  end
]]

function T.what_was_said_in_another_session_is_shown_at_its_place_and_an_earlier_prompt_comes_back()
  local place = support.place({ ["main.rs"] = "fn main() {}\n" })
  local long = ("A line of it.\n\n"):rep(60)
  local model = models.start({ { text = "The zebra is striped." }, { text = long }, { text = "Something else." } })
  support.use_model(place, model)
  local child = support.start(place, {})
  local ok, problem = xpcall(function()
    child:open_chat()
    child:lua(selects)
    child:prompt("What of zebras?")
    child:wait_for("striped")
    child:prompt("Tell me more.")
    child:wait("not require('azimuth.client').state().running")
    child:command("Azimuth new")
    child:wait("#require('azimuth.client').state().entries == 0")
    child:prompt("Another thing.")
    child:wait_for("Something else.")

    child:lua("_G.choose = 'The zebra is'")
    child:command("Azimuth search STRIPED zebra")
    child:wait_for("What of zebras?")
    support.contains(child:lua("return table.concat(_G.offered, '\\n')"), "the model: The zebra is striped.")
    local row = "vim.fn.line('w0', vim.fn.bufwinid('azimuth://chat'))"
    local at = ("vim.api.nvim_buf_get_lines(vim.fn.bufnr('azimuth://chat'), %s - 1, %s + 2, false)"):format(row, row)
    child:wait(("table.concat(%s, ' '):find('The zebra is striped', 1, true)"):format(at))
    local marks = "#vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('azimuth://chat'), vim.api.nvim_create_namespace('azimuth.found'), 0, -1, {})"
    support.equal(child:lua("return " .. marks), 1, "the place is marked")
    child:wait(marks .. " == 0")

    -- A prompt is found as well, and nothing is said of what is nowhere.
    child:lua("_G.choose = 'you: Another'")
    child:command("Azimuth search another")
    child:wait_for("Something else.")
    child:lua("_G.offered = nil; _G.said = ''; vim.notify = function(said) _G.said = _G.said .. tostring(said) end")
    child:command("Azimuth search unicorn")
    child:wait("_G.said:find('nothing was found for unicorn', 1, true)")

    child:lua("_G.choose = 'zebras'")
    child:command("Azimuth prompts what of")
    child:wait("require('azimuth.input').text() == 'What of zebras?'")
    support.equal(#child:lua("return _G.offered"), 1)

    -- The session as a file, once, and its last answer in a register.
    child:command("Azimuth export md my talk.md")
    child:wait("_G.said:find('my talk.md.', 1, true)")
    support.contains(table.concat(vim.fn.readfile(place.project .. "/my talk.md"), "\n"), "Something else.")
    child:command("Azimuth export md my talk.md")
    child:wait("_G.said:find('is there already', 1, true)")
    child:command("Azimuth copy")
    support.equal(child:lua("return vim.fn.getreg('\"')"), "Something else.")
  end, debug.traceback)
  child:stop()
  assert(ok, problem)
end

return T
