--- `:Azimuth inline why`: the last decisions of the server, and the editor's own reason against suggestions, if it
--- has one.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

--- The list that is open.
---@type azimuth.List?
local list = nil

---@param decision azimuth.InlineDecision
---@return string words
---@return string group
local function outcome(decision)
  if decision.reason then
    return decision.reason.words, "AzimuthDim"
  end
  local from = decision.source == "kept" and "from an answer that was there already"
    or ("by %s in %s"):format(decision.model or "a model", text.duration(decision.tookMs))
  return "Suggested, " .. from .. ".", "AzimuthDone"
end

--- The lines of the list.
---@param here? string What the editor itself says.
---@param decisions azimuth.InlineDecision[]
---@param width integer
---@param no_edits? string|false What it says of edits; false if they are suggested.
---@return azimuth.Block
function M.drawn(here, decisions, width, no_edits)
  local block = blocks.new()
  local first = here or "Nothing in the editor prevents a suggestion here."
  blocks.put(block, first, here and "AzimuthWarning" or "AzimuthDim")
  if no_edits and no_edits ~= here then
    blocks.put(block, "No edits: " .. no_edits, "AzimuthDim")
  elseif no_edits == false and here then
    blocks.put(block, "Nothing in the editor prevents an edit here.", "AzimuthDim")
  end
  blocks.put(block, "")
  if #decisions == 0 then
    blocks.put(block, "The server was not asked about this file yet.", "AzimuthDim")
  end
  for _, decision in ipairs(decisions) do
    local words, group = outcome(decision)
    local head = ("%s  %d:%d  "):format(
      os.date("%H:%M:%S", math.floor(decision.at / 1000)),
      decision.position.line + 1,
      decision.position.character + 1
    )
    local asked = decision.trigger == "invoked" and "asked by key: " or ""
    blocks.put(block, head .. text.shortened(asked .. text.one_line(words), math.max(16, width - #head)))
    local row = #block.lines - 1
    table.insert(block.marks, { row = row, col = 0, end_col = #head, group = "AzimuthDim" })
    table.insert(block.marks, { row = row, col = #head, group = group })
  end
  return block
end

--- Opens the list for the current file.
function M.open()
  if list then
    list:close()
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local here = require("azimuth.inline").why_not(bufnr)
  local no_edits = require("azimuth.inline.edits").why_not(bufnr) or false
  local decisions = {}
  local mine = lists.open({
    title = "Why there is no suggestion",
    footer = { "q closes" },
    draw = function(width)
      return M.drawn(here, decisions, width, no_edits), {}
    end,
    keys = {},
    closed = function()
      list = nil
    end,
  })
  list = mine
  -- The list says what is to be done if the server does not run; it is not started for the question.
  if client.lsp_client() then
    client.request(protocol.requests.inline_explain, { uri = vim.uri_from_bufnr(bufnr) }, function(err, result)
      decisions = result and result.decisions or {}
      here = err and err.message or here
      if list == mine then
        mine:draw()
      end
    end)
  end
end

return M
