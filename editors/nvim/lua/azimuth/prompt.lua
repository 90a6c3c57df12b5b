--- From what the user typed to the blocks of a prompt. Pure but for the question whether a file is there.

local M = {}

---@class azimuth.Mention
---@field path string As typed, without `@` and lines.
---@field first? integer The first line, from 1.
---@field last? integer The last line, from 1.

--- The mentions in a text: `@path`, `@path:10` and `@path:10-20`, at its start or after a blank or a bracket.
---@param text string
---@param known? table<string, string> Paths that completion gave, which may hold blanks.
---@return azimuth.Mention[]
function M.mentions(text, known)
  local found = {}
  local at = 1
  while true do
    local sign = text:find("@", at, true)
    if not sign then
      return found
    end
    at = sign + 1
    local before = sign == 1 and " " or text:sub(sign - 1, sign - 1)
    if before:match("[%s%(%[\"']") then
      local path
      -- The longest path that completion gave wins, since one may begin another.
      for candidate in pairs(known or {}) do
        if text:sub(at, at + #candidate - 1) == candidate and (not path or #candidate > #path) then
          path = candidate
        end
      end
      local word = text:match("^[^%s]+", at) or ""
      local tail = path and text:sub(at + #path):match("^:[%d%-]+") or ""
      if not path then
        local bare, lines = word:match("^(.-)(:%d[%d%-]*)[%.,;:%)%]\"'?!]*$")
        path = bare or word:gsub("[%.,;:%)%]\"'?!]+$", "")
        tail = lines or ""
      end
      local first, last = tail:match("^:(%d+)%-(%d+)")
      first = first or tail:match("^:(%d+)")
      if path ~= "" then
        table.insert(found, { path = path, first = tonumber(first), last = tonumber(last or first) })
        at = at + #path + #tail
      end
    end
  end
end

--- A mention as it is written.
---@param mention azimuth.Mention
---@return string
function M.mention(mention)
  local lines = ""
  if mention.first then
    lines = mention.last == mention.first and (":%d"):format(mention.first) or (":%d-%d"):format(mention.first, mention.last)
  end
  return "@" .. mention.path .. lines
end

--- A prompt as the user would write it: what is said, and below it what is mentioned.
---@param blocks azimuth.PromptBlock[]
---@param mention fun(uri: string, first?: integer, last?: integer): string
---@return string
function M.written(blocks, mention)
  local said, mentions = {}, {}
  for _, block in ipairs(blocks) do
    if block.type == "text" then
      table.insert(said, block.text)
    elseif block.type == "file" then
      table.insert(mentions, mention(block.uri))
    elseif block.type == "range" then
      local from, to = block.range.start, block.range["end"]
      -- A range of whole lines ends where the next one begins.
      local last = (to.character == 0 and to.line > from.line) and to.line or to.line + 1
      table.insert(mentions, mention(block.uri, from.line + 1, last))
    end
  end
  if #mentions > 0 then
    table.insert(said, table.concat(mentions, " "))
  end
  return table.concat(said, "\n")
end

---@param path string
---@param root string
---@return string? uri Of a file that is there.
local function resolve(path, root)
  local full = path:match("^/") and path or path:match("^~/") and vim.fs.normalize(path) or vim.fs.joinpath(root, path)
  local stat = vim.uv.fs_stat(full)
  return stat and stat.type == "file" and vim.uri_from_fname(vim.fs.normalize(full)) or nil
end

--- The blocks of a prompt: the text as typed, and a block for each file that it mentions.
---@param text string
---@param root string The project's folder, which paths are relative to.
---@param known? table<string, string> URIs by path, from completion.
---@return azimuth.PromptBlock[]
function M.blocks(text, root, known)
  local blocks = { { type = "text", text = text } }
  -- A command of the user's own mentions nothing: `git show @{upstream}`.
  if text:sub(1, 1) == "!" then
    return blocks
  end
  local seen = {}
  for _, mention in ipairs(M.mentions(text, known)) do
    local uri = known and known[mention.path] or resolve(mention.path, root)
    local key = uri and ("%s:%s-%s"):format(uri, mention.first, mention.last)
    if uri and not seen[key] then
      seen[key] = true
      if mention.first then
        local first = math.max(mention.first, 1)
        local last = math.max(mention.last, first)
        -- A character beyond a line's end means its end, so the length of the last line need not be known.
        table.insert(blocks, {
          type = "range",
          uri = uri,
          range = { start = { line = first - 1, character = 0 }, ["end"] = { line = last - 1, character = 2147483647 } },
        })
      else
        table.insert(blocks, { type = "file", uri = uri })
      end
    end
  end
  return blocks
end

return M
