--- Workflows that begin at a place in the code: code actions of our server, chosen as Neovim lets one choose.

local models = require("model")
local support = require("support")

local T = {}

local CODE = "fn area(side: u32) -> u32 {\n    side * side\n}\n\nfn main() {\n    area(2);\n}\n"

---@param answers Answer[]
---@param test fun(child: Child, model: Model)
local function with_code(answers, test)
  local place = support.place({ ["src/an area.rs"] = CODE })
  local model = models.start(answers)
  support.use_model(place, model)
  local child = support.start(place)
  local ok, problem = xpcall(function()
    child:command("edit src/an\\ area.rs")
    child:lua("_G.bufnr = vim.api.nvim_get_current_buf(); require('azimuth.client').start()")
    child:wait("require('azimuth.client').lsp_client() and vim.lsp.buf_is_attached(_G.bufnr, require('azimuth.client').lsp_client().id)")
    test(child, model)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

--- Goes to the code and chooses an action there by its title.
---@param child Child
---@param row integer From 1.
---@param title string
local function choose(child, row, title)
  child:command("stopinsert")
  child:wait("vim.api.nvim_get_mode().mode == 'n'")
  child:lua(
    [[
      local row, title = ...
      vim.api.nvim_set_current_win(vim.fn.win_findbuf(_G.bufnr)[1])
      vim.api.nvim_win_set_cursor(0, { row, 3 })
      vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == title end })
    ]],
    row,
    title
  )
end

---@param child Child
---@return string
local function draft(child)
  return child:lua("return require('azimuth.input').text()")
end

function T.a_chosen_workflow_is_sent_and_its_answer_shown()
  with_code({ { text = "It squares." } }, function(child, model)
    choose(child, 2, "Explain `area` with Azimuth")
    child:wait_for("It squares.")
    support.contains(child:transcript(), "Explain `area`")
    support.contains(vim.json.encode(model.asked[1]), "side * side")
    -- The user goes on where they are, and there is one session.
    support.equal(child:lua("return vim.api.nvim_get_current_buf() == _G.bufnr"), true)
    support.equal({ draft(child), child:lua("return #require('azimuth.client').sessions()") }, { "", 1 })
  end)
end

function T.a_draft_is_kept_and_a_running_turn_is_waited_for()
  with_code({ { text = "First.", held = true }, { text = "Second." } }, function(child, model)
    child:open_chat()
    child:prompt("Begin.")
    child:wait("(require('azimuth.client').state() or {}).running ~= nil")
    child:lua("require('azimuth.input').set_text('half a thought')")
    choose(child, 2, "Document `area` with Azimuth")
    child:wait("#require('azimuth.client').state().queue == 1")
    support.equal({ #model.asked, draft(child) }, { 1, "half a thought" })
    model:go_on()
    child:wait_for("Second.")
    support.equal(draft(child), "half a thought")
  end)
end

function T.a_question_waits_for_its_words()
  with_code({ { text = "Because." } }, function(child, model)
    choose(child, 2, "Ask Azimuth about `area`")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    support.equal(draft(child), "@src/an area.rs:1-3 ")
    child:type("why?")
    child:wait("require('azimuth.input').text():find('why', 1, true)")
    support.equal(draft(child), "@src/an area.rs:1-3 why?")
    -- Another place comes to what is written.
    choose(child, 4, "Ask Azimuth about this file")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type("and this")
    child:wait("require('azimuth.input').text():find('and this', 1, true)")
    support.equal(draft(child), "@src/an area.rs:1-3 why? @src/an area.rs and this")
    child:type("<C-s>")
    child:wait_for("Because.")
    support.contains(vim.json.encode(model.asked[1]), "side * side")
  end)
end

function T.what_is_asked_before_there_is_a_session_makes_one()
  with_code({ { text = "Because." } }, function(child)
    child:command("1,3Azimuth ask why?")
    child:wait_for("Because.")
    support.equal(child:lua("return #require('azimuth.client').sessions()"), 1)
  end)
end

function T.what_cannot_be_sent_comes_to_what_is_written()
  with_code({}, function(child)
    child:open_chat()
    child:lua("require('azimuth.input').set_text('half a thought')")
    -- The session is deleted elsewhere.
    child:lua([[
      local client, protocol = require("azimuth.client"), require("azimuth.generated.protocol")
      client.request(protocol.requests.session_delete, { sessionId = client.session() }, function(err)
        _G.deleted = not err
      end)
    ]])
    child:wait("_G.deleted")
    choose(child, 2, "Explain `area` with Azimuth")
    child:wait("require('azimuth.input').text():find('@src', 1, true)")
    local said = draft(child)
    assert(vim.startswith(said, "half a thought\nExplain `area`"), said)
    assert(vim.endswith(said, "\n@src/an area.rs:1-3"), said)
    support.contains(vim.inspect(child:lua("return _G.said")), "not sent")
  end)
end

return T
